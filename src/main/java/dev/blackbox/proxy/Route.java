package dev.blackbox.proxy;

import dev.blackbox.translate.Dialect;
import java.util.Locale;

/**
 * What an agent may ask of the proxy. Agents put what they like before these paths, so only how a
 * path ends counts; the engine's URL is never made of it. Paths are compared as they came, without
 * decoding.
 */
enum Route {
  CHAT("POST", "/chat/completions", Dialect.CHAT, true),
  MESSAGES("POST", "/messages", Dialect.ANTHROPIC, true),
  COUNT_TOKENS("POST", "/messages/count_tokens", Dialect.ANTHROPIC, false),
  RESPONSES("POST", "/responses", Dialect.RESPONSES, true),
  MODELS("GET", "/models", Dialect.CHAT, false),
  UNKNOWN("", "", Dialect.CHAT, false);

  private final String method;
  private final String ending;
  private final Dialect dialect;
  private final boolean modelCall;

  Route(String method, String ending, Dialect dialect, boolean modelCall) {
    this.method = method;
    this.ending = ending;
    this.dialect = dialect;
    this.modelCall = modelCall;
  }

  static Route of(String method, String rawPath) {
    String path = rawPath.endsWith("/") ? rawPath.substring(0, rawPath.length() - 1) : rawPath;
    for (Route route : values()) {
      if (route != UNKNOWN && method.equals(route.method) && path.endsWith(route.ending)) {
        return route;
      }
    }
    return UNKNOWN;
  }

  /** What its agents speak, errors included. */
  Dialect dialect() {
    return dialect;
  }

  /** Whether it makes a step of a turn. */
  boolean isModelCall() {
    return modelCall;
  }

  /** As the ledger has it. */
  static String nameOf(Dialect dialect) {
    return dialect.name().toLowerCase(Locale.ROOT);
  }
}
