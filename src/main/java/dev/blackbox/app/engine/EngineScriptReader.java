package dev.blackbox.app.engine;

import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the JSON format of scripts; {@code docs/engine.md} describes it. */
final class EngineScriptReader {

  private static final Set<String> SCRIPT_KEYS = Set.of("conversations", "otherwise");
  private static final Set<String> CONVERSATION_KEYS = Set.of("user_contains", "steps");
  private static final Set<String> STEP_KEYS =
      Set.of(
          "reasoning",
          "text",
          "tool_calls",
          "finish_reason",
          "delay_ms",
          "heartbeats",
          "event_delay_ms",
          "chunk_characters",
          "fault",
          "fault_times");
  private static final Set<String> FAULT_KEYS =
      Set.of("kind", "status", "body", "content_type", "retry_after", "events", "bytes", "ms");

  EngineScript read(String json) {
    Object tree;
    try {
      tree = Json.parse(json);
    } catch (MalformedJsonException malformed) {
      throw new IllegalArgumentException("the script is " + malformed.getMessage(), malformed);
    }
    Map<?, ?> script = object(tree, "the script", SCRIPT_KEYS);
    List<EngineScript.Conversation> conversations = new ArrayList<>();
    int index = 0;
    for (Object entry : list(script.get("conversations"), "conversations")) {
      String where = "conversations[" + index++ + "]";
      Map<?, ?> conversation = object(entry, where, CONVERSATION_KEYS);
      conversations.add(
          new EngineScript.Conversation(
              text(conversation.get("user_contains"), where + ".user_contains"),
              steps(conversation.get("steps"), where + ".steps")));
    }
    List<Step> otherwise =
        script.containsKey("otherwise")
            ? steps(script.get("otherwise"), "otherwise")
            : List.of(Step.text("The script has nothing to say to this."));
    return new EngineScript(conversations, otherwise);
  }

  private static List<Step> steps(@Nullable Object value, String where) {
    List<Step> steps = new ArrayList<>();
    for (Object entry : list(value, where)) {
      steps.add(step(entry, where + "[" + steps.size() + "]"));
    }
    if (steps.isEmpty()) {
      throw wrong(where, "needs at least one step");
    }
    return steps;
  }

  private static Step step(@Nullable Object value, String where) {
    if (value instanceof String text) {
      return Step.text(text);
    }
    Map<?, ?> step = object(value, where, STEP_KEYS);
    List<Part> parts = new ArrayList<>();
    if (step.containsKey("reasoning")) {
      parts.add(new Part.Reasoning(text(step.get("reasoning"), where + ".reasoning")));
    }
    if (step.containsKey("text")) {
      parts.add(new Part.Text(text(step.get("text"), where + ".text")));
    }
    int index = 0;
    for (Object entry : list(step.get("tool_calls"), where + ".tool_calls")) {
      parts.add(toolCall(entry, where + ".tool_calls[" + index++ + "]"));
    }
    Pace pace =
        new Pace(
            milliseconds(step.get("delay_ms"), where + ".delay_ms"),
            number(step.get("heartbeats"), 0, where + ".heartbeats"),
            milliseconds(step.get("event_delay_ms"), where + ".event_delay_ms"),
            Math.max(
                1,
                number(
                    step.get("chunk_characters"),
                    Pace.INSTANT.chunkCharacters(),
                    where + ".chunk_characters")));
    Optional<String> finishReason =
        step.containsKey("finish_reason")
            ? Optional.of(text(step.get("finish_reason"), where + ".finish_reason"))
            : Optional.empty();
    Optional<Fault> fault =
        step.containsKey("fault")
            ? Optional.of(fault(step.get("fault"), where + ".fault"))
            : Optional.empty();
    int times = number(step.get("fault_times"), Integer.MAX_VALUE, where + ".fault_times");
    return new Step(parts, finishReason, pace, fault, times);
  }

  private static Part.ToolCall toolCall(@Nullable Object value, String where) {
    Map<?, ?> call = object(value, where, Set.of("name", "arguments"));
    Object arguments = call.get("arguments");
    // Text is taken as it is, so that a script can have a model write broken JSON.
    String json = arguments instanceof String raw ? raw : Json.write(arguments);
    return new Part.ToolCall(text(call.get("name"), where + ".name"), json);
  }

  private static Fault fault(@Nullable Object value, String where) {
    Map<?, ?> fault = object(value, where, FAULT_KEYS);
    int events = number(fault.get("events"), 0, where + ".events");
    String kind = text(fault.get("kind"), where + ".kind");
    return switch (kind) {
      case "status" ->
          new Fault.Instead(
              number(fault.get("status"), 500, where + ".status"),
              Optional.ofNullable(fault.get("content_type"))
                  .map(String::valueOf)
                  .orElse("application/json"),
              fault.get("body") instanceof String raw ? raw : Json.write(fault.get("body")),
              Optional.ofNullable(fault.get("retry_after")).map(String::valueOf));
      case "no_answer" -> new Fault.NoAnswer();
      case "cut" -> new Fault.CutAfterEvents(events, false);
      case "reset" -> new Fault.CutAfterEvents(events, true);
      case "cut_bytes" -> new Fault.CutAfterBytes(number(fault.get("bytes"), 0, where + ".bytes"));
      case "end" -> new Fault.EndAfterEvents(events);
      case "stall" ->
          new Fault.Stall(
              events, Duration.ofMillis(number(fault.get("ms"), Integer.MAX_VALUE, where + ".ms")));
      case "error_frame" ->
          Fault.InsertAfterEvents.errorFrame(
              events,
              fault.get("body") instanceof String raw ? raw : Json.write(fault.get("body")));
      case "insert" ->
          new Fault.InsertAfterEvents(events, text(fault.get("body"), where + ".body"));
      case "no_usage" -> new Fault.NoUsage();
      case "no_done" -> new Fault.NoDone();
      case "no_finish_reason" -> new Fault.NoFinishReason();
      default -> throw wrong(where + ".kind", "is no known fault: " + kind);
    };
  }

  private static Map<?, ?> object(@Nullable Object value, String where, Set<String> keys) {
    if (!(value instanceof Map<?, ?> object)) {
      throw wrong(where, "must be an object");
    }
    for (Object key : object.keySet()) {
      if (!(key instanceof String name) || !keys.contains(name)) {
        throw wrong(where, "has the unknown key " + key);
      }
    }
    return object;
  }

  private static List<?> list(@Nullable Object value, String where) {
    return switch (value) {
      case null -> List.of();
      case List<?> list -> list;
      default -> throw wrong(where, "must be a list");
    };
  }

  private static String text(@Nullable Object value, String where) {
    if (!(value instanceof String text)) {
      throw wrong(where, "must be a string");
    }
    return text;
  }

  private static int number(@Nullable Object value, int ifAbsent, String where) {
    return switch (value) {
      case null -> ifAbsent;
      case Integer number when number >= 0 -> number;
      default -> throw wrong(where, "must be an integer of at least 0");
    };
  }

  private static Duration milliseconds(@Nullable Object value, String where) {
    return Duration.ofMillis(number(value, 0, where));
  }

  private static IllegalArgumentException wrong(String where, String what) {
    return new IllegalArgumentException("engine script: " + where + " " + what);
  }
}
