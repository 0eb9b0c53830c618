package dev.blackbox.proxy;

import org.jspecify.annotations.Nullable;

/** Placeholder: the proxy helper writes this. */
public final class ProxyOptionsParser {
  private ProxyOptionsParser() {}

  /** Placeholder. */
  public static ProxyOptions parse(@Nullable Object options) {
    assert options != null;
    return ProxyOptions.DEFAULTS;
  }
}
