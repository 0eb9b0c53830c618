package dev.blackbox.agent.codex;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.CliDialect;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliTurn;
import dev.blackbox.kernel.Secret;
import dev.blackbox.turn.Usage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How Codex is called, and which thread it is to go on with. Codex chooses the thread's id and
 * tells it as its first event. Source: reference server, section 6.3, with the resume form that
 * today's Codex understands.
 */
final class CodexDialect implements CliDialect {

  private final AgentSlot slot;
  private final CodexOptions options;
  private final Path program;
  private final String programVariable;
  private final CodexFiles files;
  private Optional<String> thread;

  /** What Codex had counted for its thread when the last turn ended. */
  private Usage counted = Usage.NONE;

  CodexDialect(
      AgentSlot slot,
      CodexOptions options,
      Path program,
      String programVariable,
      CodexFiles files) {
    this.slot = slot;
    this.options = options;
    this.program = program;
    this.programVariable = programVariable;
    this.files = files;
    this.thread = slot.knownSession();
  }

  @Override
  public String type() {
    return CodexBackend.TYPE;
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
    return slot.workspace();
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
    thread.ifPresent(task.backendSession());
    return new CodexTurn(this, task, new CliEvents(CodexBackend.TYPE, task, slot.clock()), thread);
  }

  void began(String id) {
    thread = Optional.of(id);
  }

  /**
   * Codex counts per thread, over all of its turns.
   *
   * @param total what it says now
   * @return what this turn added; all of it where the numbers do not look like a running total
   */
  Usage added(Usage total) {
    Usage before = counted;
    counted = total;
    return total.inputTokens() > before.inputTokens()
            && total.outputTokens() >= before.outputTokens()
        ? new Usage(
            total.totalTokens() - before.totalTokens(),
            total.inputTokens() - before.inputTokens(),
            total.outputTokens() - before.outputTokens(),
            Math.max(0, total.reasoningTokens() - before.reasoningTokens()),
            0,
            0)
        : total;
  }

  List<String> arguments(Optional<String> resumed) {
    List<String> arguments = new ArrayList<>();
    arguments.add("exec");
    resumed.ifPresent(id -> arguments.addAll(List.of("resume", id)));
    arguments.addAll(List.of("--json", "--model", options.modelId()));
    if (resumed.isPresent()) {
      // "exec resume" knows no --sandbox
      addConfig(arguments, "sandbox_mode", options.sandboxMode());
    } else {
      arguments.addAll(List.of("--sandbox", options.sandboxMode()));
    }
    addConfig(arguments, "approval_policy", options.approvalPolicy());
    addConfig(arguments, "model_provider", options.providerId());
    addConfig(arguments, "web_search", options.webSearch());
    addConfig(arguments, "log_dir", files.log().toString());
    if (options.skipGitRepoCheck()) {
      arguments.add("--skip-git-repo-check");
    }
    if (options.ignoreRules()) {
      arguments.add("--ignore-rules");
    }
    arguments.add("-"); // the prompt is standard input
    return arguments;
  }

  private static void addConfig(List<String> arguments, String key, String value) {
    arguments.add("--config");
    arguments.add(key + "=" + Toml.string(value));
  }
}
