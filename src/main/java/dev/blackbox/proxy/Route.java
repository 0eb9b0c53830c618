package dev.blackbox.proxy;

import dev.blackbox.translate.Dialect;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;

/**
 * What an agent may ask of the proxy. Agents put what they like before these paths, so only how a
 * path ends counts; the engine's URL is never made of it. Paths are compared as they came, without
 * decoding, but for a model's id.
 */
enum Route {
  CHAT("POST", "/chat/completions", Dialect.CHAT, true),
  MESSAGES("POST", "/messages", Dialect.ANTHROPIC, true),
  COUNT_TOKENS("POST", "/messages/count_tokens", Dialect.ANTHROPIC, false),
  RESPONSES("POST", "/responses", Dialect.RESPONSES, true),
  MODELS("GET", "/models", Dialect.CHAT, false),
  /** The same, asked by an Anthropic client. */
  ANTHROPIC_MODELS("GET", "/models", Dialect.ANTHROPIC, false),
  UNKNOWN("", "", Dialect.CHAT, false);

  private static final HeaderName ANTHROPIC_VERSION = HeaderNames.create("anthropic-version");
  private static final String ONE_MODEL = "/models/";

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

  static Route of(String method, String rawPath, Headers headers) {
    String path = withoutSlash(rawPath);
    for (Route route : values()) {
      if (route != UNKNOWN && method.equals(route.method) && path.endsWith(route.ending)) {
        return route == MODELS ? modelsFor(headers) : route;
      }
    }
    return method.equals(MODELS.method) && modelId(rawPath).isPresent()
        ? modelsFor(headers)
        : UNKNOWN;
  }

  /** Both kinds of clients ask at one path; Anthropic's always name the version of their API. */
  private static Route modelsFor(Headers headers) {
    return headers.contains(ANTHROPIC_VERSION) ? ANTHROPIC_MODELS : MODELS;
  }

  /**
   * The model of {@code …/models/<id>}, decoded; ids may have slashes. Empty if none is named, or
   * it is not well encoded.
   */
  static Optional<String> modelId(String rawPath) {
    String path = withoutSlash(rawPath);
    int start = path.indexOf(ONE_MODEL);
    if (start < 0 || path.endsWith(MODELS.ending)) {
      return Optional.empty();
    }
    try {
      // Of a form, not of a path, would a plus be a space.
      String id = path.substring(start + ONE_MODEL.length()).replace("+", "%2B");
      return Optional.of(URLDecoder.decode(id, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException badlyEncoded) {
      return Optional.empty();
    }
  }

  private static String withoutSlash(String rawPath) {
    return rawPath.endsWith("/") ? rawPath.substring(0, rawPath.length() - 1) : rawPath;
  }

  boolean asksForModels() {
    return this == MODELS || this == ANTHROPIC_MODELS;
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
