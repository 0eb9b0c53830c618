package dev.blackbox.app.engine;

import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An answer in the shape of chat completions, plain or as events. The stream's order is the one of
 * vLLM and the recording proxy: role, pieces, tool calls, finish reason, usage, {@code [DONE]}.
 */
final class ChatReply {

  private final String id;
  private final ChatQuestion question;
  private final Step step;
  private final boolean withUsage;
  private final boolean withFinishReason;

  ChatReply(String id, ChatQuestion question, Step step, Optional<Fault> fault) {
    this.id = id;
    this.question = question;
    this.step = step;
    this.withFinishReason = !(fault.orElse(null) instanceof Fault.NoFinishReason);
    this.withUsage =
        question.wantsUsage() && withFinishReason && !(fault.orElse(null) instanceof Fault.NoUsage);
  }

  /** What this answer reports, if it comes to its end. */
  EngineUsage usage() {
    return withUsage ? cost() : EngineUsage.NONE;
  }

  String whole() {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("role", "assistant");
    StringBuilder text = new StringBuilder();
    StringBuilder reasoning = new StringBuilder();
    List<Object> toolCalls = new ArrayList<>();
    for (Part part : step.parts()) {
      switch (part) {
        case Part.Text(String piece) -> text.append(piece);
        case Part.Reasoning(String piece) -> reasoning.append(piece);
        case Part.ToolCall call -> toolCalls.add(toolCall(call, toolCalls.size(), false));
      }
    }
    message.put("content", text.isEmpty() && !toolCalls.isEmpty() ? null : text.toString());
    if (!reasoning.isEmpty()) {
      message.put("reasoning_content", reasoning.toString());
    }
    if (!toolCalls.isEmpty()) {
      message.put("tool_calls", toolCalls);
    }
    Map<String, @Nullable Object> choice = new LinkedHashMap<>();
    choice.put("index", 0);
    choice.put("message", message);
    choice.put("finish_reason", withFinishReason ? finishReason() : null);
    Map<String, @Nullable Object> answer = envelope("chat.completion", List.of(choice));
    if (withUsage) {
      answer.put("usage", usageTree());
    }
    return Json.write(answer);
  }

  /** The data of the events, without {@code [DONE]}. */
  List<String> events() {
    List<String> events = new ArrayList<>();
    events.add(chunk(Map.of("role", "assistant", "content", ""), null));
    int toolCalls = 0;
    for (Part part : step.parts()) {
      switch (part) {
        case Part.Text(String text) ->
            pieces(text).forEach(piece -> events.add(chunk(Map.of("content", piece), null)));
        case Part.Reasoning(String text) ->
            pieces(text)
                .forEach(piece -> events.add(chunk(Map.of("reasoning_content", piece), null)));
        case Part.ToolCall call -> {
          addToolCall(events, call, toolCalls);
          toolCalls++;
        }
      }
    }
    if (withFinishReason) {
      events.add(chunk(Map.of(), finishReason()));
    }
    if (withUsage) {
      Map<String, @Nullable Object> last = envelope("chat.completion.chunk", List.of());
      last.put("usage", usageTree());
      events.add(Json.write(last));
    }
    return events;
  }

  private void addToolCall(List<String> events, Part.ToolCall call, int index) {
    events.add(chunk(Map.of("tool_calls", List.of(toolCall(call, index, true))), null));
    for (String piece : pieces(call.argumentsJson())) {
      Map<String, Object> more = new LinkedHashMap<>();
      more.put("index", index);
      more.put("function", Map.of("arguments", piece));
      events.add(chunk(Map.of("tool_calls", List.of(more)), null));
    }
  }

  private Map<String, Object> toolCall(Part.ToolCall call, int index, boolean begun) {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", call.name());
    function.put("arguments", begun ? "" : call.argumentsJson());
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("index", index);
    tree.put("id", "call_" + id.substring(id.lastIndexOf('-') + 1) + "_" + index);
    tree.put("type", "function");
    tree.put("function", function);
    return tree;
  }

  private List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    int start = 0;
    while (start < text.length()) {
      int end = Math.min(text.length(), start + step.pace().chunkCharacters());
      if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
        end++;
      }
      pieces.add(text.substring(start, end));
      start = end;
    }
    return pieces;
  }

  private String chunk(Map<String, ?> delta, @Nullable String finishReason) {
    Map<String, @Nullable Object> choice = new LinkedHashMap<>();
    choice.put("index", 0);
    choice.put("delta", delta);
    choice.put("finish_reason", finishReason);
    return Json.write(envelope("chat.completion.chunk", List.of(choice)));
  }

  private Map<String, @Nullable Object> envelope(String object, List<?> choices) {
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    tree.put("id", id);
    tree.put("object", object);
    tree.put("created", 0);
    tree.put("model", question.model());
    tree.put("choices", choices);
    return tree;
  }

  private String finishReason() {
    boolean callsTools = step.parts().stream().anyMatch(Part.ToolCall.class::isInstance);
    return step.finishReason().orElse(callsTools ? "tool_calls" : "stop");
  }

  private EngineUsage cost() {
    long completion = 0;
    long reasoning = 0;
    for (Part part : step.parts()) {
      switch (part) {
        case Part.Text(String text) -> completion += EngineUsage.tokensOf(text);
        case Part.Reasoning(String text) -> reasoning += EngineUsage.tokensOf(text);
        case Part.ToolCall(String name, String arguments) ->
            completion += EngineUsage.tokensOf(name + arguments);
      }
    }
    return new EngineUsage(
        question.promptTokens(), completion + reasoning, reasoning, question.cachedTokens());
  }

  private Map<String, Object> usageTree() {
    EngineUsage cost = cost();
    Map<String, Object> usage = new LinkedHashMap<>();
    usage.put("prompt_tokens", cost.promptTokens());
    usage.put("completion_tokens", cost.completionTokens());
    usage.put("total_tokens", cost.promptTokens() + cost.completionTokens());
    usage.put("prompt_tokens_details", Map.of("cached_tokens", cost.cachedTokens()));
    usage.put("completion_tokens_details", Map.of("reasoning_tokens", cost.reasoningTokens()));
    return usage;
  }
}
