package dev.blackbox.proxy;

import dev.blackbox.kernel.Resource;
import dev.blackbox.upstream.Upstream;
import dev.blackbox.upstream.UpstreamCall;
import dev.blackbox.upstream.UpstreamDeadlines;
import dev.blackbox.upstream.UpstreamException;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.upstream.UpstreamRequest;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pause and resume towards the engine, on connections of their own: model calls that hang in a
 * paused engine must not be in the way of the resume that would free them.
 */
final class ControlCalls implements Resource {

  private static final long ANSWER_BYTES_MAX = 4 << 20;
  private static final int PREVIEW_CHARACTERS_MAX = 300;

  private final Upstream upstream;

  ControlCalls(Duration connectTimeout) {
    this.upstream = Upstream.create(connectTimeout);
  }

  Map<String, @Nullable Object> pause(
      ProxyBinding binding,
      Optional<String> version,
      String reason,
      Optional<Double> timeoutSeconds,
      Duration within)
      throws ControlCallException {
    Map<String, @Nullable Object> body = identity(binding);
    body.put("reason", reason);
    body.put("mode", "preempt");
    body.put("timeout_seconds", timeoutSeconds.orElse(null));
    return call("pause", binding, version, body, within);
  }

  Map<String, @Nullable Object> resume(
      ProxyBinding binding,
      Optional<String> version,
      String reason,
      Optional<String> newVersion,
      Duration within)
      throws ControlCallException {
    Map<String, @Nullable Object> body = identity(binding);
    body.put("reason", reason);
    body.put("version", newVersion.orElse(null));
    return call("resume", binding, version, body, within);
  }

  @Override
  public void close() {
    upstream.close();
  }

  private static Map<String, @Nullable Object> identity(ProxyBinding binding) {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("session_id", binding.sessionId().value());
    body.put("instance_id", binding.instanceId().value());
    return body;
  }

  private Map<String, @Nullable Object> call(
      String what,
      ProxyBinding binding,
      Optional<String> version,
      Map<String, @Nullable Object> body,
      Duration within)
      throws ControlCallException {
    UpstreamRequest request =
        new UpstreamRequest(
            "POST",
            Door.engineUri(binding, "/rollout/" + what),
            EngineHeaders.ofControlCall(binding, version),
            Json.writeBytes(body),
            new UpstreamDeadlines(within, within, Optional.of(within)));
    try (UpstreamCall call = upstream.begin(request)) {
      UpstreamHead head = call.head();
      byte[] answer = call.readAll(ANSWER_BYTES_MAX);
      if (!head.isSuccess()) {
        throw new ControlCallException(
            "the engine refused to " + what + ": HTTP " + head.status() + preview(answer), null);
      }
      return asObject(what, answer);
    } catch (UpstreamException failed) {
      throw new ControlCallException(
          "the engine could not be told to " + what + ": " + failed.text(), failed);
    }
  }

  @SuppressWarnings("unchecked") // the keys of a JSON object are strings
  private static Map<String, @Nullable Object> asObject(String what, byte[] answer)
      throws ControlCallException {
    try {
      Object tree = Json.parse(answer);
      if (tree instanceof Map<?, ?> object) {
        return (Map<String, @Nullable Object>) object;
      }
      // The reference server wraps anything else in the same way.
      Map<String, @Nullable Object> wrapped = new LinkedHashMap<>();
      wrapped.put("data", tree);
      return wrapped;
    } catch (MalformedJsonException malformed) {
      throw new ControlCallException(
          "the engine's answer to " + what + " is " + malformed.getMessage(), malformed);
    }
  }

  private static String preview(byte[] answer) {
    String text = new String(answer, StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      return "";
    }
    return ": "
        + (text.length() <= PREVIEW_CHARACTERS_MAX
            ? text
            : text.substring(0, PREVIEW_CHARACTERS_MAX) + "…");
  }
}
