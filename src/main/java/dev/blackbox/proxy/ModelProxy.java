package dev.blackbox.proxy;

import dev.blackbox.kernel.Resource;
import dev.blackbox.kernel.Secret;
import dev.blackbox.turn.TurnKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The model door. Listens on 127.0.0.1, on a port that it binds once and keeps while the server
 * lives.
 */
public interface ModelProxy extends Resource {

  /**
   * Starts to listen; serves nobody until {@link #bind}.
   *
   * @throws java.io.UncheckedIOException if the port cannot be had; the message names it
   */
  static ModelProxy start(ProxyConfig config, CallSink sink, InstantSource clock) {
    return new HelidonModelProxy(config, sink, clock);
  }

  int port();

  /** Never lets these be in kept bodies from now on. */
  void hide(Collection<Secret> secrets);

  /**
   * Serves this binding from now on; calls under an older binding's key are refused, a turn that is
   * still open is closed, and the version of {@link #release} is forgotten.
   *
   * @throws dev.blackbox.kernel.Problem if a value of it cannot be sent as a header
   */
  void bind(ProxyBinding binding);

  /** Serves nobody; a turn that is still open is closed. */
  void unbind();

  /**
   * Opens the scope of a turn.
   *
   * @param trace the turn's place in its caller's trace: {@code traceparent} and {@code tracestate}
   *     as headers of its model calls, in the place of what the agent says; may be empty
   * @throws IllegalStateException if another scope is open, or nothing is bound
   */
  TurnScope openTurn(TurnKey turn, Map<String, String> trace);

  /** Model calls wait at the door from now on. */
  void hold();

  /** Lets waiting calls go, and puts {@code version}, if given, on calls from now on. */
  void release(Optional<String> version);

  /** Calls of the open turn that are with the engine now; those that wait at the door are not. */
  int callsInFlight();

  /**
   * Forwards a pause to the engine: {@code POST <origin><api path>/rollout/pause}, on a connection
   * of its own.
   *
   * @return the engine's answer; one that is not an object is wrapped as {@code {"data": …}}
   * @throws ControlCallException if it cannot be reached in time or answers with another status
   *     than 2xx
   */
  Map<String, @Nullable Object> pauseUpstream(
      String reason, Optional<Double> timeoutSeconds, Duration within) throws ControlCallException;

  /** Forwards a resume to the engine, as {@link #pauseUpstream}. */
  Map<String, @Nullable Object> resumeUpstream(
      String reason, Optional<String> version, Duration within) throws ControlCallException;
}
