package dev.blackbox.translate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An engine's stream as the events of the Anthropic Messages API. Thinking, text and each call are
 * blocks of their own, one open at a time. Source of the sequence: Anthropic API reference,
 * "Streaming Messages".
 */
public final class AnthropicStream extends DialectStream {

  private enum Block {
    NONE,
    THINKING,
    TEXT
  }

  private Block open = Block.NONE;
  private int index;
  private final StringBuilder thinking = new StringBuilder();
  private boolean refused;
  private AnthropicAnswers.Stop stop = AnthropicAnswers.Stop.of("end_turn");

  public AnthropicStream(TranslatedRequest request, IdSource ids) {
    super(request, ids, "toolu_");
  }

  @Override
  void opened(String id, String model, long createdSeconds, List<StreamEvent> out) {
    Map<String, @Nullable Object> usage = new LinkedHashMap<>();
    // The engine has not counted yet; what it counts comes with message_delta.
    usage.put("input_tokens", request.inputTokensEstimated());
    usage.put("output_tokens", 0);
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("id", id.isEmpty() ? ids.next("msg_") : id);
    message.put("type", "message");
    message.put("role", "assistant");
    message.put("model", model);
    message.put("content", List.of());
    message.put("stop_reason", null);
    message.put("stop_sequence", null);
    message.put("usage", usage);
    out.add(event("message_start", Map.of("message", message)));
  }

  @Override
  void reasoning(String piece, List<StreamEvent> out) {
    if (open != Block.THINKING) {
      closeBlock(out);
      open = Block.THINKING;
      startBlock(AnthropicAnswers.thinkingBlock("", ""), out);
    }
    thinking.append(piece);
    delta("thinking_delta", "thinking", piece, out);
  }

  @Override
  void text(String piece, List<StreamEvent> out) {
    if (open != Block.TEXT) {
      closeBlock(out);
      open = Block.TEXT;
      startBlock(AnthropicAnswers.textBlock(""), out);
    }
    delta("text_delta", "text", piece, out);
  }

  /** Anthropic has no block for a refusal; its stop reason says that the text is one. */
  @Override
  void refusal(String piece, List<StreamEvent> out) {
    refused = true;
    text(piece, out);
  }

  @Override
  void finish(
      FinishReason reason,
      List<ToolCall> calls,
      Optional<String> matchedStop,
      List<StreamEvent> out) {
    closeBlock(out);
    for (ToolCall call : calls) {
      startBlock(AnthropicAnswers.toolUseBlock(call, Map.of()), out);
      delta("input_json_delta", "partial_json", call.arguments(), out);
      stopBlock(out);
    }
    stop = AnthropicAnswers.stop(request, reason, !calls.isEmpty(), refused, matchedStop);
  }

  @Override
  void complete(Tokens tokens, List<StreamEvent> out) {
    Map<String, @Nullable Object> delta = new LinkedHashMap<>();
    delta.put("stop_reason", stop.reason());
    delta.put("stop_sequence", stop.sequence());
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    data.put("delta", delta);
    data.put("usage", tokens.anthropic());
    out.add(event("message_delta", data));
    out.add(event("message_stop", Map.of()));
  }

  @Override
  void failed(AgentFailure told, List<StreamEvent> out) {
    out.add(new StreamEvent("error", DialectErrors.anthropicEvent(told)));
  }

  @Override
  void alive(List<StreamEvent> out) {
    out.add(event("ping", Map.of()));
  }

  private void closeBlock(List<StreamEvent> out) {
    if (open == Block.THINKING) {
      delta("signature_delta", "signature", AnthropicAnswers.signature(thinking.toString()), out);
      thinking.setLength(0);
    }
    if (open != Block.NONE) {
      stopBlock(out);
      open = Block.NONE;
    }
  }

  private void startBlock(Map<String, @Nullable Object> block, List<StreamEvent> out) {
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    data.put("index", index);
    data.put("content_block", block);
    out.add(event("content_block_start", data));
  }

  private void delta(String type, String key, String piece, List<StreamEvent> out) {
    Map<String, @Nullable Object> delta = new LinkedHashMap<>();
    delta.put("type", type);
    delta.put(key, piece);
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    data.put("index", index);
    data.put("delta", delta);
    out.add(event("content_block_delta", data));
  }

  private void stopBlock(List<StreamEvent> out) {
    out.add(event("content_block_stop", Map.of("index", index)));
    index++;
  }

  private static StreamEvent event(String name, Map<String, ? extends @Nullable Object> fields) {
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    data.put("type", name);
    data.putAll(fields);
    return new StreamEvent(name, data);
  }
}
