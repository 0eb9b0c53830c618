package dev.blackbox.app.engine;

/**
 * Tokens that the engine reported, as sums over answers that carried usage. They are made from text
 * lengths, so that the same conversation always costs the same.
 */
public record EngineUsage(
    long promptTokens, long completionTokens, long reasoningTokens, long cachedTokens) {

  static final EngineUsage NONE = new EngineUsage(0, 0, 0, 0);

  /** As a rule of thumb four characters are a token. */
  private static final int CHARACTERS_PER_TOKEN = 4;

  static int tokensOf(String text) {
    return (text.length() + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN;
  }

  EngineUsage plus(EngineUsage other) {
    return new EngineUsage(
        promptTokens + other.promptTokens,
        completionTokens + other.completionTokens,
        reasoningTokens + other.reasoningTokens,
        cachedTokens + other.cachedTokens);
  }
}
