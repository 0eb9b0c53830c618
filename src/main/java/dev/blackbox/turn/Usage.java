package dev.blackbox.turn;

/**
 * Tokens and steps of a turn; all counts, zero where nothing was reported. The wire names are the
 * snake-case ones.
 */
public record Usage(
    long totalTokens,
    long inputTokens,
    long outputTokens,
    long reasoningTokens,
    long steps,
    long toolCalls) {

  public static final Usage NONE = new Usage(0, 0, 0, 0, 0, 0);
}
