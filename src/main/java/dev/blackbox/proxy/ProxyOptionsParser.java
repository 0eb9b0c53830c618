package dev.blackbox.proxy;

/** Placeholder: the proxy helper writes this. */
final class ProxyOptionsParser {
  private ProxyOptionsParser() {}
}
