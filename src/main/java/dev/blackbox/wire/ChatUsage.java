package dev.blackbox.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.OptionalLong;

/** The tokens of one call, as the engine reported them; empty where it said nothing. */
public record ChatUsage(
    OptionalLong promptTokens,
    OptionalLong completionTokens,
    OptionalLong reasoningTokens,
    OptionalLong cachedTokens) {

  public static final ChatUsage UNKNOWN =
      new ChatUsage(
          OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());

  /** No tokens at all, for an answer that no engine gave. */
  public static final ChatUsage NONE =
      new ChatUsage(
          OptionalLong.of(0), OptionalLong.of(0), OptionalLong.empty(), OptionalLong.empty());

  /** Reads a {@code usage} object; fields of another type than number count as not reported. */
  static ChatUsage of(JsonNode usage) {
    return new ChatUsage(
        count(usage.path("prompt_tokens")),
        count(usage.path("completion_tokens")),
        count(usage.path("completion_tokens_details").path("reasoning_tokens")),
        count(usage.path("prompt_tokens_details").path("cached_tokens")));
  }

  private static OptionalLong count(JsonNode number) {
    return number.isIntegralNumber() && number.canConvertToLong() && number.longValue() >= 0
        ? OptionalLong.of(number.longValue())
        : OptionalLong.empty();
  }
}
