package dev.blackbox.translate;

import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.ChatToolDelta;
import dev.blackbox.wire.ChatUsage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whole answers of an engine as messages of the Anthropic API, and the parts of these. */
public final class AnthropicAnswers {

  private static final int SIGNATURE_DIGITS = 32;

  private AnthropicAnswers() {}

  /** Why a message ended, in Anthropic's words. */
  record Stop(String reason, @Nullable String sequence) {
    static Stop of(String reason) {
      return new Stop(reason, null);
    }
  }

  /**
   * Translates a whole answer.
   *
   * @throws BrokenAnswerException if the engine broke off, or a call is not well-formed
   */
  public static Map<String, @Nullable Object> of(
      ChatChunk answer, TranslatedRequest request, IdSource ids) throws BrokenAnswerException {
    FinishReason reason = FinishReason.of(answer);
    CallAssembler assembler = new CallAssembler(request, ids, "toolu_");
    for (ChatToolDelta call : answer.toolCalls()) {
      assembler.add(call);
    }
    List<ToolCall> calls = assembler.whole(reason != FinishReason.STOP);
    List<Map<String, @Nullable Object>> content = new ArrayList<>();
    if (!answer.reasoning().isEmpty()) {
      content.add(thinkingBlock(answer.reasoning(), signature(answer.reasoning())));
    }
    if (!(answer.text() + answer.refusal()).isEmpty()) {
      content.add(textBlock(answer.text() + answer.refusal()));
    }
    for (ToolCall call : calls) {
      content.add(toolUseBlock(call, call.input()));
    }
    boolean refused = !answer.refusal().isEmpty();
    Tokens tokens =
        Tokens.of(answer.usage().orElse(ChatUsage.UNKNOWN), request, Tokens.characters(answer));
    return message(
        answer.id().isEmpty() ? ids.next("msg_") : answer.id(),
        answer.model().isEmpty() ? request.model() : answer.model(),
        content,
        stop(request, reason, !calls.isEmpty(), refused, answer.matchedStop()),
        tokens);
  }

  /** An empty message that ends an agent quietly whose rollout is void; the reference server's. */
  public static Map<String, @Nullable Object> ofVoid(TranslatedRequest request) {
    return message(
        "msg_rollout_invalidated",
        "proxy-model",
        List.of(textBlock("")),
        Stop.of("end_turn"),
        Tokens.of(ChatUsage.NONE, request, 0));
  }

  private static Map<String, @Nullable Object> message(
      String id,
      String model,
      List<Map<String, @Nullable Object>> content,
      Stop stop,
      Tokens tokens) {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("id", id);
    message.put("type", "message");
    message.put("role", "assistant");
    message.put("model", model);
    message.put("content", content);
    message.put("stop_reason", stop.reason());
    message.put("stop_sequence", stop.sequence());
    message.put("usage", tokens.anthropic());
    return message;
  }

  static Stop stop(
      TranslatedRequest request,
      FinishReason reason,
      boolean hasCalls,
      boolean refused,
      Optional<String> matchedStop) {
    return switch (reason) {
      case LENGTH -> Stop.of("max_tokens");
      case FILTERED -> Stop.of("refusal");
      case STOP -> {
        if (hasCalls) {
          yield Stop.of("tool_use");
        }
        if (refused) {
          yield Stop.of("refusal");
        }
        yield matchedStop
            .filter(request.stopSequences()::contains)
            .map(sequence -> new Stop("stop_sequence", sequence))
            .orElse(Stop.of("end_turn"));
      }
    };
  }

  static Map<String, @Nullable Object> textBlock(String text) {
    Map<String, @Nullable Object> block = new LinkedHashMap<>();
    block.put("type", "text");
    block.put("text", text);
    return block;
  }

  static Map<String, @Nullable Object> thinkingBlock(String text, String signature) {
    Map<String, @Nullable Object> block = new LinkedHashMap<>();
    block.put("type", "thinking");
    block.put("thinking", text);
    block.put("signature", signature);
    return block;
  }

  static Map<String, @Nullable Object> toolUseBlock(
      ToolCall call, Map<String, @Nullable Object> input) {
    Map<String, @Nullable Object> block = new LinkedHashMap<>();
    block.put("type", "tool_use");
    block.put("id", call.id());
    block.put("name", call.tool().name());
    block.put("input", input);
    return block;
  }

  /** Clients keep thinking only if it is signed. Nobody checks ours: it is a mark of the text. */
  static String signature(String thinking) {
    return ToolNames.sha256(thinking).substring(0, SIGNATURE_DIGITS);
  }
}
