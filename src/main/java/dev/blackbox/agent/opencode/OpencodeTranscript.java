package dev.blackbox.agent.opencode;

import dev.blackbox.agent.SpacedJson;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import dev.blackbox.wire.TraceEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What opencode's messages of one turn say: its outputs, trace and usage, and how it ended. Source
 * of the conversion: reference server, section 3.5; what it lost is kept here: errors of tools and
 * messages, and cached tokens, which count as input.
 */
final class OpencodeTranscript {

  private static final Set<String> TRACED =
      Set.of("reasoning", "tool", "step-start", "step-finish");

  private static final int ERROR_CHARACTERS_MAX = 1_000;

  private final TurnId turn;
  private final Instant readAt;
  private final List<Message> outputs = new ArrayList<>();
  private final List<TraceEvent> trace = new ArrayList<>();
  private long nextSequence;
  private Usage usage = Usage.NONE;
  private @Nullable Map<?, ?> lastInfo;

  private OpencodeTranscript(TurnId turn, long firstSequence, Instant readAt) {
    this.turn = turn;
    this.nextSequence = firstSequence;
    this.readAt = readAt;
  }

  /**
   * Reads the messages of one turn.
   *
   * @param messages of the turn, oldest first
   * @param readAt time of the trace events
   */
  static OpencodeTranscript of(
      List<Object> messages, TurnId turn, long firstSequence, Instant readAt)
      throws OpencodeCallException {
    OpencodeTranscript transcript = new OpencodeTranscript(turn, firstSequence, readAt);
    for (Object message : messages) {
      transcript.add(object(message, "a message"));
    }
    return transcript;
  }

  /** The messages in an answer, in whichever of the known shapes it has. */
  static List<Object> messages(@Nullable Object answer) throws OpencodeCallException {
    Object list = answer;
    if (answer instanceof Map<?, ?> map) {
      list =
          map.containsKey("messages")
              ? map.get("messages")
              : map.get("message") instanceof Map<?, ?> single
                  ? List.of(single)
                  : map.containsKey("info") && map.containsKey("parts") ? List.of(map) : null;
    }
    if (!(list instanceof List<?> entries)) {
      throw OpencodeCallException.protocol("Could not extract opencode messages");
    }
    return new ArrayList<>(entries.stream().filter(entry -> entry instanceof Map<?, ?>).toList());
  }

  static String messageId(Object message) throws OpencodeCallException {
    if (object(object(message, "a message").get("info"), "info").get("id") instanceof String id) {
      return id;
    }
    throw OpencodeCallException.protocol("opencode sent a message without an id");
  }

  /** True if the agent has said its last word, good or bad. */
  boolean isComplete() {
    if (lastInfo == null) {
      return false;
    }
    return lastInfo.get("error") != null
        || !(lastInfo.get("time") instanceof Map<?, ?> time)
        || time.get("completed") != null;
  }

  boolean hasOutputs() {
    return !outputs.isEmpty();
  }

  /** True if the last message was ended on request. */
  boolean isAborted() {
    return "MessageAbortedError".equals(errorName());
  }

  /** The error of the last message, as a sentence. */
  Optional<String> error() {
    if (lastInfo == null || !(lastInfo.get("error") instanceof Map<?, ?> error)) {
      return Optional.empty();
    }
    Object message = error.get("data") instanceof Map<?, ?> data ? data.get("message") : null;
    String text = message == null ? "no reason given" : String.valueOf(message);
    return Optional.of(
        errorName()
            + ": "
            + (text.length() <= ERROR_CHARACTERS_MAX
                ? text
                : text.substring(0, ERROR_CHARACTERS_MAX)));
  }

  Work work(String backendSession) {
    return new Work(Json.write(outputs), Json.write(trace), usage, backendSession);
  }

  private String errorName() {
    return lastInfo != null
            && lastInfo.get("error") instanceof Map<?, ?> error
            && error.get("name") instanceof String name
        ? name
        : "error";
  }

  private void add(Map<?, ?> message) throws OpencodeCallException {
    Map<?, ?> info = object(message.get("info"), "info");
    if ("user".equals(info.get("role"))) {
      return;
    }
    lastInfo = info;
    if (!(message.get("parts") instanceof List<?> parts)) {
      throw OpencodeCallException.protocol("opencode sent a message without parts");
    }
    List<String> texts = new ArrayList<>();
    List<String> reasonings = new ArrayList<>();
    List<Message.ToolCall> calls = new ArrayList<>();
    List<Message> results = new ArrayList<>();
    for (Object entry : parts) {
      if (!(entry instanceof Map<?, ?> part)) {
        continue;
      }
      String type = String.valueOf(part.get("type"));
      if (TRACED.contains(type)) {
        addTrace(type, part);
      }
      switch (type) {
        case "text" -> addText(part, texts);
        case "reasoning" -> addText(part, reasonings);
        case "tool" -> addTool(part, calls, results);
        case "step-finish" -> addUsage(part);
        default -> {
          // other parts say nothing about the outcome
        }
      }
    }
    String content = texts.isEmpty() ? null : String.join("\n", texts);
    String reasoning = reasonings.isEmpty() ? null : String.join("\n", reasonings);
    if (!calls.isEmpty()) {
      outputs.add(Message.assistant(content, reasoning, calls));
      outputs.addAll(results);
    } else if (content != null || reasoning != null) {
      outputs.add(Message.assistant(content, reasoning, null));
    }
  }

  private void addTrace(String type, Map<?, ?> part) {
    Map<String, @Nullable Object> payload = new java.util.LinkedHashMap<>();
    part.forEach((key, value) -> payload.put(String.valueOf(key), value));
    trace.add(
        TraceEvent.of(turn.value(), nextSequence++, OpencodeBackend.TYPE, type, payload, readAt));
  }

  private static void addText(Map<?, ?> part, List<String> to) {
    if (part.get("text") instanceof String text && !text.isEmpty()) {
      to.add(text);
    }
  }

  private void addTool(Map<?, ?> part, List<Message.ToolCall> calls, List<Message> results)
      throws OpencodeCallException {
    Map<?, ?> state =
        part.get("state") == null ? Map.of() : object(part.get("state"), "a tool's state");
    String id = firstText(part, "callID", "callId", "id").orElseGet(() -> "call_" + calls.size());
    String name = firstText(part, "tool", "name").orElse("tool");
    Object input = state.get("input") == null ? Map.of() : state.get("input");
    calls.add(Message.ToolCall.function(id, name, SpacedJson.of(input)));
    Object output = state.get("output") == null ? state.get("error") : state.get("output");
    String content =
        output == null ? "" : output instanceof String text ? text : SpacedJson.of(output);
    results.add(Message.tool(id, name, content));
    usage =
        new Usage(
            usage.totalTokens(),
            usage.inputTokens(),
            usage.outputTokens(),
            usage.reasoningTokens(),
            usage.steps(),
            usage.toolCalls() + 1);
  }

  private void addUsage(Map<?, ?> part) {
    Object given = part.get("tokens") == null ? part.get("usage") : part.get("tokens");
    Map<?, ?> tokens = given instanceof Map<?, ?> map ? map : Map.of();
    Map<?, ?> cache = tokens.get("cache") instanceof Map<?, ?> map ? map : Map.of();
    long input = count(tokens, "input") + count(cache, "read") + count(cache, "write");
    long output = count(tokens, "output");
    long reasoning = count(tokens, "reasoning");
    long total = tokens.get("total") == null ? input + output + reasoning : count(tokens, "total");
    usage =
        new Usage(
            usage.totalTokens() + total,
            usage.inputTokens() + input,
            usage.outputTokens() + output,
            usage.reasoningTokens() + reasoning,
            usage.steps() + 1,
            usage.toolCalls());
  }

  private static Optional<String> firstText(Map<?, ?> part, String... names) {
    for (String name : names) {
      if (part.get(name) instanceof String text && !text.isEmpty()) {
        return Optional.of(text);
      }
    }
    return Optional.empty();
  }

  private static long count(Map<?, ?> tokens, String name) {
    return tokens.get(name) instanceof Number number ? Math.max(0, number.longValue()) : 0;
  }

  private static Map<?, ?> object(@Nullable Object value, String what)
      throws OpencodeCallException {
    if (value instanceof Map<?, ?> map) {
      return map;
    }
    throw OpencodeCallException.protocol("opencode sent " + what + " that is no object");
  }
}
