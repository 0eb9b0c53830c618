package dev.blackbox.app;

import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** A real agent program: how it is registered, found and called. */
enum AgentProgram {
  CLAUDE_CODE("claude_code", "claude", "CLAUDE_CODE_BIN", "anthropic") {
    @Override
    Step shell(String command) {
      return Step.toolCall(
          "Bash", Json.write(Map.of("command", command, "timeout", SHELL_LIMIT_MILLISECONDS)));
    }
  },
  CODEX("codex", "codex", "CODEX_BIN", "responses") {
    @Override
    Step shell(String command) {
      return Step.toolCall(
          "exec_command",
          Json.write(Map.of("cmd", command, "yield_time_ms", SHELL_LIMIT_MILLISECONDS)));
    }
  },
  OPENCODE("opencode", "opencode", "OPENCODE_BIN", "chat") {
    @Override
    Map<String, Object> required() {
      return Map.of(
          "provider_id", "proxy",
          "provider_name", "Proxy",
          "provider_package", "@ai-sdk/openai-compatible",
          "model_id", "m",
          "model_name", "M");
    }

    @Override
    Step shell(String command) {
      return Step.toolCall(
          "bash",
          Json.write(
              Map.of(
                  "command", command, "description", "work", "timeout", SHELL_LIMIT_MILLISECONDS)));
    }
  },
  OPENCLAW("openclaw", "openclaw", "OPENCLAW_BIN", "chat") {
    @Override
    Map<String, Object> required() {
      return Map.of("model_id", "m");
    }

    @Override
    Step shell(String command) {
      return Step.toolCall("exec", Json.write(Map.of("command", command)));
    }
  };

  /** Longer than the longest command of the matrix. */
  private static final int SHELL_LIMIT_MILLISECONDS = 400_000;

  private final String type;
  private final String binary;
  private final String variable;
  private final String dialect;

  AgentProgram(String type, String binary, String variable, String dialect) {
    this.type = type;
    this.binary = binary;
    this.variable = variable;
    this.dialect = dialect;
  }

  /** The model calls the agent's shell. */
  abstract Step shell(String command);

  /** Backend options without which it cannot be registered. */
  Map<String, Object> required() {
    return Map.of();
  }

  /** The {@code blackbox_type}. */
  String type() {
    return type;
  }

  /** In which it calls the model, as the ledger names it. */
  String dialect() {
    return dialect;
  }

  /** Backend options that it needs, and these. */
  Map<String, Object> options(Map<String, Object> more) {
    Map<String, Object> all = new LinkedHashMap<>(required());
    all.putAll(more);
    return all;
  }

  /** What the server needs in its environment to find the program. */
  Map<String, String> environment() {
    return Map.of(variable, program().toString());
  }

  /**
   * The program that the variable names, else the one that the build installed.
   *
   * @throws IllegalStateException if there is none: a matrix that leaves an agent out is none
   */
  Path program() {
    String told = System.getenv().getOrDefault(variable, "");
    Path program = told.isEmpty() ? Path.of("target/agents/bin", binary) : Path.of(told);
    if (!Files.isExecutable(program)) {
      throw new IllegalStateException(
          "no " + binary + ": run mvn -Pagents verify, or set " + variable);
    }
    return program.toAbsolutePath();
  }

  /** The first line of its {@code --version}, asked with the Node that is installed beside it. */
  String version() throws InterruptedException {
    Path program = program();
    ProcessBuilder builder = new ProcessBuilder(program.toString(), "--version");
    builder.environment().merge("PATH", program.getParent() + ":", (path, own) -> own + path);
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    try {
      Process asked = builder.start();
      String line = asked.inputReader().readLine();
      asked.waitFor();
      return line == null ? "unknown" : line.strip();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
