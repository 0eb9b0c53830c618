package dev.blackbox.agent.claude;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.CliDialect;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliTurn;
import dev.blackbox.agent.NameBasedUuid;
import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How Claude Code is called, and which session it is to go on with. The session's id is ours to
 * choose: the same for the same session on every boot. Source: reference server, sections 5.4 and
 * 5.6.
 */
final class ClaudeDialect implements CliDialect {

  private final AgentSlot slot;
  private final ClaudeOptions options;
  private final Path program;
  private final String programVariable;
  private final ClaudeFiles files;
  private final String session;

  /** A run has answered, or was known before a crash: going on without its history is no option. */
  private boolean hasHistory;

  /** A run was made that may have left a beginning of the session. */
  private boolean attempted;

  ClaudeDialect(
      AgentSlot slot,
      ClaudeOptions options,
      Path program,
      String programVariable,
      ClaudeFiles files) {
    this.slot = slot;
    this.options = options;
    this.program = program;
    this.programVariable = programVariable;
    this.files = files;
    this.hasHistory = slot.knownSession().isPresent();
    this.session =
        slot.knownSession()
            .orElseGet(
                () ->
                    NameBasedUuid.of(slot.instanceId().value() + ":" + slot.sessionId().value())
                        .toString());
  }

  @Override
  public String type() {
    return ClaudeBackend.TYPE;
  }

  @Override
  public Path program() {
    return program;
  }

  @Override
  public String programVariable() {
    return programVariable;
  }

  @Override
  public Path directory() {
    return options.workingDirectory().orElse(slot.workspace());
  }

  @Override
  public void prepare() throws IOException {
    files.prepare();
  }

  @Override
  public Map<String, String> environment(Secret modelKey) {
    return files.environment(modelKey);
  }

  @Override
  public CliTurn begin(AgentTask task) {
    task.backendSession().accept(session);
    boolean resume = hasHistory || attempted;
    return new ClaudeTurn(this, new CliEvents(ClaudeBackend.TYPE, task, slot.clock()), resume);
  }

  String session() {
    return session;
  }

  long turnsMax() {
    return options.turnsMax();
  }

  /** A run of this session has begun to work. */
  void attempted() {
    attempted = true;
  }

  /** A run of this session has answered. */
  void answered() {
    hasHistory = true;
  }

  boolean hasHistory() {
    return hasHistory;
  }

  List<String> arguments(boolean resume) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--model",
                options.model().id(),
                "--max-turns",
                Long.toString(options.turnsMax()),
                "--permission-mode",
                options.permissionMode(),
                "--settings",
                files.settings().toString(),
                "--setting-sources",
                options.settingSources(),
                resume ? "--resume" : "--session-id",
                session));
    if (slot.systemPrompt().isPresent()) {
      // As files: the text may be longer than an argument may be, and every user sees arguments.
      switch (options.systemPromptMode()) {
        case "append" -> arguments.add("--append-system-prompt-file");
        case "replace" -> arguments.add("--system-prompt-file");
        default -> {
          return arguments;
        }
      }
      arguments.add(files.systemPrompt().toString());
    }
    return arguments;
  }
}
