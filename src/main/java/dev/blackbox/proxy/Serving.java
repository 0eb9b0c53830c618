package dev.blackbox.proxy;

import org.jspecify.annotations.Nullable;

/**
 * Whom the proxy serves at one moment.
 *
 * @param turn the open turn, or null between turns
 */
record Serving(ProxyBinding binding, @Nullable OpenTurn turn) {}
