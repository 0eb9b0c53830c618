package dev.blackbox.proxy;

/** Sums over the model calls of one turn, as the engine reported them. */
public record CallTotals(
    long steps, long promptTokens, long completionTokens, long reasoningTokens, long toolCalls) {}
