package dev.blackbox.upstream;

/** Placeholder: the proxy helper writes this. */
final class Upstream {
  private Upstream() {}
}
