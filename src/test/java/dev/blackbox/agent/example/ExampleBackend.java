package dev.blackbox.agent.example;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.CliDialect;
import dev.blackbox.agent.CliEnvironment;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliLimits;
import dev.blackbox.agent.CliPlan;
import dev.blackbox.agent.CliTurn;
import dev.blackbox.agent.Options;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.Secret;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Drives an imagined agent: a program that is run once per turn and prints JSON lines. */
public final class ExampleBackend implements Backend {

  // [backend]
  public static final String TYPE = "example";

  private final Map<String, String> environment;
  private final ProgramFinder finder;

  public ExampleBackend(Map<String, String> environment, Processes processes) {
    this.environment = environment;
    this.finder =
        new ProgramFinder(
            TYPE, "the example program", "EXAMPLE_BIN", "example", environment, processes);
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public String systemPromptFile() {
    return "prompts/system.txt";
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> raw) {
    Options options = Options.of(TYPE, raw);
    String mood = options.choice("mood", "plain", List.of("plain", "loud"));
    options.finish();
    ProgramFinder.Found program = finder.find(Optional.empty());
    return new CliPlan(
        program, CliLimits.DEFAULT, slot -> new ExampleDialect(slot, program.path(), mood));
  }

  // [/backend]

  // [dialect]
  private final class ExampleDialect implements CliDialect {

    private final AgentSlot slot;
    private final Path program;
    private final String mood;
    private final String session;

    ExampleDialect(AgentSlot slot, Path program, String mood) {
      this.slot = slot;
      this.program = program;
      this.mood = mood;
      this.session = slot.knownSession().orElse("example-" + slot.sessionId());
    }

    @Override
    public String type() {
      return TYPE;
    }

    @Override
    public Path program() {
      return program;
    }

    @Override
    public String programVariable() {
      return finder.variable();
    }

    @Override
    public Path directory() {
      return slot.workspace();
    }

    @Override
    public void prepare() throws IOException {
      Path root = slot.runtimeDirectory();
      for (String directory : List.of("home", "workspace", "logs", "run", "tmp", "prompts")) {
        RuntimeFiles.directory(root.resolve(directory));
      }
      RuntimeFiles.write(root.resolve(systemPromptFile()), slot.systemPrompt().orElse(""));
    }

    @Override
    public Map<String, String> environment(Secret modelKey) {
      Map<String, String> variables = CliEnvironment.of(environment, slot.runtimeDirectory());
      variables.put("OPENAI_BASE_URL", slot.modelBase().toString());
      variables.put("OPENAI_API_KEY", modelKey.reveal());
      variables.put("EXAMPLE_MOOD", mood);
      return variables;
    }

    @Override
    public CliTurn begin(AgentTask task) {
      task.backendSession().accept(session); // recorded before the agent sees the prompt
      return new ExampleTurn(new CliEvents(TYPE, task, slot.clock()), session);
    }
  }
  // [/dialect]
}
