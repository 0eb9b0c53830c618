package dev.blackbox.translate;

import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.ChatToolDelta;
import dev.blackbox.wire.ChatUsage;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of one answer in the words of the dialects. Agents compact their history by them, so a
 * number that the engine did not give is estimated and not 0, and the usage then says {@code
 * "estimated": true}.
 *
 * @param inputTokens cached ones included
 */
record Tokens(
    long inputTokens,
    long cachedTokens,
    long outputTokens,
    OptionalLong reasoningTokens,
    boolean hasCached,
    boolean estimated) {

  /**
   * @param outputCharacters how much the answer has, if the engine says nothing of tokens
   */
  static Tokens of(ChatUsage usage, TranslatedRequest request, long outputCharacters) {
    boolean estimated = usage.promptTokens().isEmpty() || usage.completionTokens().isEmpty();
    long input = usage.promptTokens().orElse(request.inputTokensEstimated());
    long cached = Math.min(usage.cachedTokens().orElse(0), input);
    return new Tokens(
        input,
        cached,
        usage.completionTokens().orElse(AnthropicTokens.ofText(outputCharacters)),
        usage.reasoningTokens(),
        usage.cachedTokens().isPresent(),
        estimated);
  }

  /** How much a chunk or a whole answer says: the same for both, so that estimates are. */
  static long characters(ChatChunk chunk) {
    long characters =
        (long) chunk.reasoning().length() + chunk.text().length() + chunk.refusal().length();
    for (ChatToolDelta call : chunk.toolCalls()) {
      characters += call.name().length() + call.arguments().length();
    }
    return characters;
  }

  /** Anthropic counts cached tokens apart. */
  Map<String, @Nullable Object> anthropic() {
    Map<String, @Nullable Object> usage = new LinkedHashMap<>();
    usage.put("input_tokens", inputTokens - cachedTokens);
    if (hasCached) {
      usage.put("cache_read_input_tokens", cachedTokens);
    }
    usage.put("output_tokens", outputTokens);
    return marked(usage);
  }

  Map<String, @Nullable Object> responses() {
    Map<String, @Nullable Object> usage = new LinkedHashMap<>();
    usage.put("input_tokens", inputTokens);
    usage.put("input_tokens_details", Map.of("cached_tokens", cachedTokens));
    usage.put("output_tokens", outputTokens);
    usage.put("output_tokens_details", Map.of("reasoning_tokens", reasoningTokens.orElse(0)));
    usage.put("total_tokens", inputTokens + outputTokens);
    return marked(usage);
  }

  private Map<String, @Nullable Object> marked(Map<String, @Nullable Object> usage) {
    if (estimated) {
      usage.put("estimated", true);
    }
    return usage;
  }
}
