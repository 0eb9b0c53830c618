package dev.blackbox.agent.script;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.Options;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.wire.Fingerprints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs a program of the operator as the agent: the prompt is its standard input, what it prints is
 * the answer, and it finds its model through {@code OPENAI_BASE_URL} and {@code OPENAI_API_KEY}.
 * There are no options: callers must not choose programs.
 */
public final class ScriptBackend implements Backend {

  public static final String TYPE = "script";

  static final String SYSTEM_PROMPT_FILE = "prompts/system.txt";

  private final Path program;
  private final String path;

  /**
   * @param program absolute path of the program; it is looked for only when an agent is planned
   * @param environment the server's own variables, of which only {@code PATH} is passed on
   */
  public ScriptBackend(Path program, Map<String, String> environment) {
    this.program = program;
    this.path = environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public String systemPromptFile() {
    return SYSTEM_PROMPT_FILE;
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> options) {
    Options.of(TYPE, options).finish();
    if (!Files.isRegularFile(program) || !Files.isExecutable(program)) {
      throw missing(null);
    }
    Map<String, String> identity = new LinkedHashMap<>();
    identity.put("program", program.toString());
    try {
      identity.put("sha256", Fingerprints.sha256Hex(Files.readAllBytes(program)));
    } catch (IOException unreadable) {
      throw missing(unreadable);
    }
    return new ScriptPlan(identity);
  }

  private Problem missing(@Nullable IOException cause) {
    return new Problem(
        ErrorCode.BACKEND_ERROR,
        "The configured agent program " + program + " is not a readable, executable file.",
        Map.of("blackbox_type", TYPE),
        cause);
  }

  private final class ScriptPlan implements Plan {

    private final Map<String, String> identity;

    ScriptPlan(Map<String, String> identity) {
      this.identity = Map.copyOf(identity);
    }

    @Override
    public Map<String, String> identity() {
      return identity;
    }

    @Override
    public Agent start(AgentSlot slot) throws AgentStartException {
      try {
        Path root = slot.runtimeDirectory();
        for (String directory : new String[] {"home", "tmp", "logs", "prompts", "workspace"}) {
          RuntimeFiles.directory(root.resolve(directory));
        }
        Path prompt = root.resolve(SYSTEM_PROMPT_FILE);
        if (slot.systemPrompt().isPresent()) {
          RuntimeFiles.write(prompt, slot.systemPrompt().get());
        } else {
          Files.deleteIfExists(prompt);
        }
      } catch (IOException failed) {
        throw new AgentStartException(
            "the runtime directory cannot be prepared: " + failed, failed);
      }
      return new ScriptAgent(slot, program, path);
    }
  }
}
