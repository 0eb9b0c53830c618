package dev.blackbox.agent.claude;

import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliExit;
import dev.blackbox.agent.CliOutputException;
import dev.blackbox.agent.CliTurn;
import dev.blackbox.agent.Texts;
import dev.blackbox.turn.Work;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One run of Claude Code: what its events say about the end of the turn. The end is the exit after
 * a {@code result} event; while a task in the background is open, another result follows. Source of
 * the events: runs of Claude Code 2.1.332; of the texts of failures: reference server, section 5.9.
 */
final class ClaudeTurn implements CliTurn {

  private static final String NO_OUTPUT = "claude_code produced no assistant output";

  private final ClaudeDialect dialect;
  private final CliEvents events;
  private final boolean resume;
  private final ClaudeTranscript transcript = new ClaudeTranscript();
  private final Set<String> openTasks = new HashSet<>();
  private boolean begun;
  private @Nullable Map<?, ?> result;
  private boolean resultIsLast;

  ClaudeTurn(ClaudeDialect dialect, CliEvents events, boolean resume) {
    this.dialect = dialect;
    this.events = events;
    this.resume = resume;
  }

  @Override
  public List<String> arguments() {
    return dialect.arguments(resume);
  }

  @Override
  public void line(byte[] line) throws CliOutputException {
    Optional<Map<?, ?>> event = events.read(line);
    if (event.isPresent()) {
      accept(event.get());
    }
  }

  private void accept(Map<?, ?> event) throws CliOutputException {
    noteErrors(event);
    switch (String.valueOf(event.get("type"))) {
      case "system" -> system(event);
      case "assistant" -> {
        resultIsLast = false;
        transcript.assistant(event);
      }
      case "user" -> {
        resultIsLast = false;
        transcript.user(event);
      }
      case "result" -> {
        result = event;
        resultIsLast = true;
        transcript.result(event);
      }
      default -> {
        // traced only; new kinds of events appear with each version
      }
    }
  }

  private void system(Map<?, ?> event) throws CliOutputException {
    String task = event.get("task_id") instanceof String id ? id : "";
    switch (String.valueOf(event.get("subtype"))) {
      case "init" -> {
        begun = true;
        dialect.attempted();
        checkSession(event);
      }
      case "task_started" -> openTasks.add(task);
      case "task_notification" -> openTasks.remove(task);
      default -> {
        // traced only
      }
    }
  }

  private void checkSession(Map<?, ?> event) throws CliOutputException {
    if (event.get("session_id") instanceof String id && !id.equals(dialect.session())) {
      throw CliOutputException.protocol(
          "began session " + id + " although it was told to use " + dialect.session());
    }
  }

  private void noteErrors(Map<?, ?> event) {
    String type = String.valueOf(event.get("type"));
    if (type.equals("result") && Texts.isSomething(event.get("is_error"))) {
      events.error("result=", Texts.first(event, "result", "error", "message").orElse(event));
    } else if (type.equals("error") || type.equals("stderr")) {
      events.error("", event);
    } else {
      noteErrors("", event);
      if (event.get("message") instanceof Map<?, ?> message) {
        noteErrors("message.", message);
      }
    }
  }

  private void noteErrors(String prefix, Map<?, ?> object) {
    for (String name : List.of("error", "stderr")) {
      Texts.first(object, name).ifPresent(value -> events.error(prefix + name + "=", value));
    }
  }

  @Override
  public void note(String remark) {
    events.note(remark);
  }

  @Override
  public boolean isComplete() {
    return result != null && resultIsLast && openTasks.isEmpty();
  }

  @Override
  public Optional<CliTurn> again(CliExit exit) {
    if (!exit.isFailure()) {
      return Optional.empty();
    }
    if (!resume && !begun && exit.errors().contains("already in use")) {
      events.note("its session exists already, so it is resumed");
      return Optional.of(new ClaudeTurn(dialect, events, true));
    }
    boolean unknown =
        exit.errors().contains("No conversation found")
            || String.valueOf(result).contains("No conversation found");
    if (resume && unknown && !dialect.hasHistory()) {
      events.note("its session was never stored, so it is begun");
      return Optional.of(new ClaudeTurn(dialect, events, false));
    }
    return Optional.empty();
  }

  @Override
  public AgentResult judge(CliExit exit) {
    Map<?, ?> last = result;
    if (last != null && "error_max_turns".equals(last.get("subtype"))) {
      return new AgentResult.OutOfSteps(
          dialect.turnsMax(),
          "claude_code reached its max_turns of " + dialect.turnsMax() + ".",
          work());
    }
    if (exit.isFailure()) {
      return broken(Kind.TRANSPORT, events.failure(exit, "stream-json error", hint(exit.errors())));
    }
    if (last != null && isError(last)) {
      return broken(Kind.TRANSPORT, "claude_code reported an error: " + reason(last));
    }
    if (last == null) {
      return broken(
          Kind.PROTOCOL,
          NO_OUTPUT + ": " + events.failure(exit, "stream-json error", "") + "; no result event");
    }
    if (!transcript.hasMessages()) {
      return broken(Kind.PROTOCOL, NO_OUTPUT);
    }
    dialect.answered();
    return new AgentResult.Answered(work());
  }

  private static boolean isError(Map<?, ?> result) {
    return Texts.isSomething(result.get("is_error"))
        || (result.get("subtype") instanceof String subtype && !subtype.equals("success"));
  }

  private static String reason(Map<?, ?> result) {
    return Texts.first(result, "result", "error", "errors", "subtype")
        .map(value -> Texts.compact(value, 1_200))
        .orElse("no reason given");
  }

  /** Source: reference server, section 5.9; its clients look for parts of these texts. */
  private static String hint(String errors) {
    String told = errors.toLowerCase(Locale.ROOT);
    if (told.contains("requires --verbose") && told.contains("stream-json")) {
      return "pass --verbose together with --output-format stream-json";
    }
    if (told.contains("dangerously-skip-permissions")
        || told.contains("cannot be used with root/sudo")) {
      return "use permission_mode default or acceptEdits, or run the server as a non-root user";
    }
    for (String word :
        List.of(
            "anthropic_api_key",
            "claude_code_oauth_token",
            "authentication",
            "unauthorized",
            "401")) {
      if (told.contains(word)) {
        return "check the gateway token that the agent was given, and what the proxy answered";
      }
    }
    return "";
  }

  private AgentResult broken(Kind kind, String message) {
    return new AgentResult.Broken(kind, message, work());
  }

  @Override
  public Work work() {
    return new Work(transcript.json(), events.traceJson(), transcript.usage(), dialect.session());
  }
}
