package dev.blackbox.agent.codex;

import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliExit;
import dev.blackbox.agent.CliOutputException;
import dev.blackbox.agent.CliTurn;
import dev.blackbox.agent.Texts;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run of Codex: what its events say about the end of the turn. {@code turn.completed} or {@code
 * turn.failed} is the last word; {@code error} events before it are retries. Source of the events:
 * runs of codex-cli 0.171.0; of the texts of failures: reference server, sections 6.6 and 6.7.
 */
final class CodexTurn implements CliTurn {

  private static final String NO_OUTPUT = "codex produced no assistant output";
  private static final int REASON_MAX = 1_200;

  private final CodexDialect dialect;
  private final AgentTask task;
  private final CliEvents events;
  private final Optional<String> resumed;
  private final CodexTranscript transcript = new CodexTranscript();
  private Optional<String> thread = Optional.empty();
  private boolean completed;
  private @Nullable Map<?, ?> failure;
  private Usage usage = Usage.NONE;

  /**
   * @param resumed the thread to go on with
   */
  CodexTurn(CodexDialect dialect, AgentTask task, CliEvents events, Optional<String> resumed) {
    this.dialect = dialect;
    this.task = task;
    this.events = events;
    this.resumed = resumed;
  }

  @Override
  public List<String> arguments() {
    return dialect.arguments(resumed);
  }

  @Override
  public void line(byte[] line) throws CliOutputException {
    Optional<Map<?, ?>> event = events.read(line);
    if (event.isPresent()) {
      accept(event.get());
    }
  }

  private void accept(Map<?, ?> event) throws CliOutputException {
    String type = String.valueOf(event.get("type"));
    if (type.equals("turn.failed") || type.equals("error")) {
      events.error("", event);
    } else {
      Texts.first(event, "error").ifPresent(error -> events.error("error=", error));
    }
    switch (type) {
      case "thread.started" -> threadStarted(event);
      case "turn.completed" -> {
        completed = true;
        usage = dialect.added(usage(event));
      }
      case "turn.failed" -> failure = event;
      case "item.started" -> item(event, false);
      case "item.completed" -> item(event, true);
      default -> {
        // traced only; "error" is a retry unless a failure of the turn follows
      }
    }
  }

  private void threadStarted(Map<?, ?> event) throws CliOutputException {
    if (!(event.get("thread_id") instanceof String id) || id.isEmpty()) {
      return;
    }
    if (resumed.isPresent() && !resumed.get().equals(id)) {
      throw CliOutputException.protocol(
          "began thread " + id + " although it was told to go on with " + resumed.get());
    }
    if (!thread.equals(Optional.of(id))) {
      thread = Optional.of(id);
      task.backendSession().accept(id);
      dialect.began(id);
    }
  }

  private void item(Map<?, ?> event, boolean isCompleted) {
    if (event.get("item") instanceof Map<?, ?> item) {
      transcript.item(item, isCompleted);
    }
  }

  /** Cached tokens are a part of the input, and reasoning is a part of the output. */
  private static Usage usage(Map<?, ?> event) {
    Map<?, ?> tokens = event.get("usage") instanceof Map<?, ?> map ? map : Map.of();
    long input = Texts.count(tokens, "input_tokens");
    long output = Texts.count(tokens, "output_tokens");
    long total = Texts.count(tokens, "total_tokens");
    return new Usage(
        total == 0 ? input + output : total,
        input,
        output,
        Texts.count(tokens, "reasoning_output_tokens"),
        0,
        0);
  }

  @Override
  public void note(String remark) {
    events.note(remark);
  }

  @Override
  public boolean isComplete() {
    return completed || failure != null;
  }

  @Override
  public Optional<CliTurn> again(CliExit exit) {
    return Optional.empty();
  }

  @Override
  public AgentResult judge(CliExit exit) {
    if (exit.isFailure()) {
      return broken(Kind.TRANSPORT, events.failure(exit, "jsonl error", noise()));
    }
    if (failure != null) {
      return broken(Kind.TRANSPORT, "codex reported that the turn failed: " + reason(failure));
    }
    if (!completed) {
      return broken(
          events.noise().isPresent() ? Kind.TRANSPORT : Kind.PROTOCOL,
          events.failure(exit, "jsonl error", noise())
              + "; no turn.completed event, no assistant output");
    }
    if (thread.isEmpty()) {
      return broken(
          Kind.PROTOCOL,
          "codex printed no thread.started event with a thread_id, so its conversation could not"
              + " be gone on with");
    }
    if (!transcript.hasAnswer()) {
      return broken(Kind.PROTOCOL, NO_OUTPUT);
    }
    return new AgentResult.Answered(work());
  }

  private String noise() {
    return events.noise().map(line -> "invalid codex JSONL: " + line).orElse("");
  }

  private static String reason(Map<?, ?> event) {
    Object what = Texts.first(event, "error", "message").orElse(event);
    if (what instanceof Map<?, ?> object) {
      what = Texts.first(object, "message", "error", "detail").orElse(object);
    }
    return Texts.compact(what, REASON_MAX);
  }

  private AgentResult broken(Kind kind, String message) {
    return new AgentResult.Broken(kind, message, work());
  }

  @Override
  public Work work() {
    Usage withSteps =
        new Usage(
            usage.totalTokens(),
            usage.inputTokens(),
            usage.outputTokens(),
            usage.reasoningTokens(),
            transcript.steps(),
            transcript.calls());
    return new Work(
        transcript.json(), events.traceJson(), withSteps, thread.or(() -> resumed).orElse(""));
  }
}
