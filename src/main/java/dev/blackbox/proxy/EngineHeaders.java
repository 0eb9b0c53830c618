package dev.blackbox.proxy;

import dev.blackbox.kernel.Problem;
import dev.blackbox.upstream.UpstreamHead;
import io.helidon.http.Header;
import io.helidon.http.Headers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which headers cross the proxy. Both directions go by lists of what may pass: an agent's
 * credentials, cookies, connection headers and claims about sessions never reach the engine.
 */
final class EngineHeaders {

  private static final Set<String> FROM_AGENT =
      Set.of(
          "accept",
          "baggage",
          "content-type",
          "openai-beta",
          "traceparent",
          "tracestate",
          "user-agent",
          "x-client-request-id",
          "x-request-id");

  private static final Set<String> FROM_ENGINE =
      Set.of(
          "cache-control",
          "content-type",
          "openai-processing-ms",
          "retry-after",
          "retry-after-ms",
          "x-accel-buffering",
          "x-request-id",
          "x-should-retry");

  private EngineHeaders() {}

  /** Headers of a model call. Names and values: reference server, section 3.2. */
  static Map<String, List<String>> ofModelCall(
      Headers agent, ProxyBinding binding, OpenTurn turn, Optional<String> version) {
    Map<String, List<String>> headers = passing(agent);
    if (!turn.trace().isEmpty()) {
      // Both belong together: W3C Trace Context, section 3.
      headers.remove("tracestate");
      turn.trace().forEach((name, value) -> set(headers, name, value));
    }
    set(headers, binding.options().stickyHeaderName(), binding.sessionId().value());
    ofBinding(headers, binding, version);
    set(headers, "X-Turn-Id", turn.key().turnId().value());
    binding.sandboxId().ifPresent(sandbox -> set(headers, "X-Dressage-Sandbox-Id", sandbox));
    set(headers, "X-Dressage-Partial-Rollout", "1");
    return headers;
  }

  /** Headers of a question for the engine's models, which belongs to no session. */
  static Map<String, List<String>> ofModelList(Headers agent) {
    return passing(agent);
  }

  /** Headers of a pause or resume. */
  static Map<String, List<String>> ofControlCall(ProxyBinding binding, Optional<String> version) {
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    set(headers, "Content-Type", "application/json");
    ofBinding(headers, binding, version);
    return headers;
  }

  /** What of the engine's headers the agent gets. */
  static Map<String, String> forAgent(UpstreamHead head) {
    Map<String, String> headers = new LinkedHashMap<>();
    for (String name : FROM_ENGINE) {
      head.header(name)
          .filter(EngineHeaders::isPrintable)
          .ifPresent(value -> headers.put(name, value));
    }
    return headers;
  }

  /**
   * Refuses a binding that cannot be put into HTTP, before a model call fails on it.
   *
   * @throws Problem {@code request_error}
   */
  static void check(ProxyBinding binding) {
    String scheme = binding.upstreamOrigin().getScheme();
    if (!("http".equals(scheme) || "https".equals(scheme))
        || binding.upstreamOrigin().getHost() == null) {
      throw Problem.badRequest(
          "the router must be an http or https URL with a host, not "
              + binding.upstreamOrigin()
              + ".",
          Map.of());
    }
    binding
        .sandboxId()
        .filter(sandbox -> !isPrintable(sandbox))
        .ifPresent(
            _ -> {
              throw Problem.badRequest(
                  "bound_sandbox_id must be printable ASCII, since it is sent as a header.",
                  Map.of());
            });
  }

  private static void ofBinding(
      Map<String, List<String>> headers, ProxyBinding binding, Optional<String> version) {
    set(headers, "X-Session-Id", binding.sessionId().value());
    set(headers, "X-Instance-Id", binding.instanceId().value());
    version
        .filter(EngineHeaders::isPrintable)
        .ifPresent(known -> set(headers, "X-Dressage-Expected-Version", known));
    set(headers, "Accept-Encoding", "identity");
  }

  private static Map<String, List<String>> passing(Headers agent) {
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (Header header : agent) {
      String name = header.name().toLowerCase(Locale.ROOT);
      List<String> values = header.allValues().stream().filter(EngineHeaders::isPrintable).toList();
      if (FROM_AGENT.contains(name) && !values.isEmpty()) {
        headers.put(name, values);
      }
    }
    return headers;
  }

  private static void set(Map<String, List<String>> headers, String name, String value) {
    // An empty sticky header name is a way to say that none is wanted.
    if (!name.isEmpty()) {
      headers.put(name, List.of(value));
    }
  }

  private static boolean isPrintable(String value) {
    return value.chars().allMatch(c -> c >= ' ' && c < 0x7F);
  }
}
