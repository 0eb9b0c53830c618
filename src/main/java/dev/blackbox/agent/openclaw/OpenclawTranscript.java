package dev.blackbox.agent.openclaw;

import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliOutputException;
import dev.blackbox.agent.CliOutputs;
import dev.blackbox.agent.SpacedJson;
import dev.blackbox.agent.Texts;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What our plugin wrote down in one turn: its outputs, trace and usage, and which runs go on. One
 * message of the model is one step. For one thread.
 */
final class OpenclawTranscript {

  private static final int ERROR_CHARACTERS_MAX = 1_000;

  private final CliEvents events;
  private final CliOutputs outputs = new CliOutputs();
  private final Optional<String> expectedSession;
  private Usage tokens = Usage.NONE;
  private int runs;
  private int ends;
  private boolean lastIsAnswer;
  private @Nullable String session;
  private @Nullable String error;

  /**
   * @param expectedSession the id that OpenClaw gave to the conversation; empty for its first turn
   */
  OpenclawTranscript(CliEvents events, Optional<String> expectedSession) {
    this.events = events;
    this.expectedSession = expectedSession;
  }

  /**
   * Reads one line of the record.
   *
   * @throws CliOutputException if a conversation other than the expected one is gone on with
   */
  void line(byte[] line) throws CliOutputException {
    Optional<Map<?, ?>> read = events.read(line);
    if (read.isEmpty()) {
      return;
    }
    Map<?, ?> event = read.get();
    switch (String.valueOf(event.get("type"))) {
      case "run" -> run(event);
      case "end" -> {
        ends++;
        Texts.first(event, "error").ifPresent(this::failed);
      }
      case "message" -> {
        if (event.get("message") instanceof Map<?, ?> message) {
          message(message);
        }
      }
      default -> {
        // another version of the plugin; the trace has it
      }
    }
  }

  private void run(Map<?, ?> event) throws CliOutputException {
    runs++;
    if (event.get("session") instanceof String id && !id.isEmpty()) {
      session = id;
      if (expectedSession.isPresent() && !expectedSession.get().equals(id)) {
        throw CliOutputException.protocol(
            "went on with the conversation " + id + " instead of " + expectedSession.get());
      }
    }
  }

  private void failed(Object reason) {
    error = Texts.compact(reason, ERROR_CHARACTERS_MAX);
    events.error("", reason);
  }

  private void message(Map<?, ?> message) {
    switch (String.valueOf(message.get("role"))) {
      case "assistant" -> answer(message);
      case "toolResult" -> {
        lastIsAnswer = false;
        outputs.result(String.valueOf(message.get("toolCallId")), text(message.get("content")));
      }
      default -> {
        // what the user said, or OpenClaw in the user's name
      }
    }
  }

  private void answer(Map<?, ?> message) {
    if (message.get("usage") instanceof Map<?, ?> usage) {
      addUsage(usage);
    }
    if ("error".equals(message.get("stopReason"))) {
      Texts.first(message, "errorMessage", "errorCode").ifPresent(this::failed);
    }
    if (!(message.get("content") instanceof List<?> parts) || parts.isEmpty()) {
      return;
    }
    CliOutputs.Step step = outputs.begin(null);
    for (Object entry : parts) {
      if (entry instanceof Map<?, ?> part) {
        switch (String.valueOf(part.get("type"))) {
          case "text" -> Texts.first(part, "text").ifPresent(text -> step.text(text.toString()));
          case "thinking" ->
              Texts.first(part, "thinking").ifPresent(text -> step.reasoning(text.toString()));
          case "toolCall" ->
              step.call(
                  String.valueOf(part.get("id")),
                  String.valueOf(part.get("name")),
                  arguments(part.get("arguments")));
          default -> {
            // images and the like; the trace has them
          }
        }
      }
    }
    lastIsAnswer = !step.hasCalls();
  }

  private static String arguments(@Nullable Object given) {
    return given instanceof String text ? text : SpacedJson.of(given == null ? Map.of() : given);
  }

  private static String text(@Nullable Object content) {
    if (content instanceof List<?> parts) {
      return String.join(
          "\n",
          parts.stream()
              .map(part -> part instanceof Map<?, ?> map ? map.get("text") : part)
              .filter(String.class::isInstance)
              .map(String.class::cast)
              .toList());
    }
    return content instanceof String whole ? whole : content == null ? "" : SpacedJson.of(content);
  }

  private void addUsage(Map<?, ?> usage) {
    long input =
        Texts.count(usage, "input")
            + Texts.count(usage, "cacheRead")
            + Texts.count(usage, "cacheWrite");
    long output = Texts.count(usage, "output");
    long total =
        usage.get("totalTokens") == null ? input + output : Texts.count(usage, "totalTokens");
    tokens =
        new Usage(
            tokens.totalTokens() + total,
            tokens.inputTokens() + input,
            tokens.outputTokens() + output,
            tokens.reasoningTokens() + Texts.count(usage, "reasoningTokens"),
            tokens.steps() + 1,
            0);
  }

  /** The answer that the gateway gave to our call, for the trace. */
  void response(byte[] json) {
    events.read(json);
  }

  void note(String remark) {
    events.note(remark);
  }

  /** A final text, for a turn of which nothing was written down. */
  void say(String text) {
    outputs.begin(null).text(text);
    lastIsAnswer = true;
  }

  /** All runs that began have ended, and there was one. */
  boolean isOver() {
    return runs > 0 && ends >= runs;
  }

  /** No run is at work. */
  boolean isQuiet() {
    return ends >= runs;
  }

  /** The last message of the model calls no tool. */
  boolean hasAnswer() {
    return lastIsAnswer;
  }

  /** The id that OpenClaw itself gave to the conversation. */
  Optional<String> session() {
    return Optional.ofNullable(session);
  }

  /** What was said last about an error. */
  Optional<String> error() {
    return Optional.ofNullable(error);
  }

  Work work(String backendSession) {
    Usage usage =
        new Usage(
            tokens.totalTokens(),
            tokens.inputTokens(),
            tokens.outputTokens(),
            tokens.reasoningTokens(),
            tokens.steps(),
            outputs.calls());
    return new Work(outputs.json(), events.traceJson(), usage, backendSession);
  }
}
