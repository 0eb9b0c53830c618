package dev.blackbox.proxy;

import dev.blackbox.kernel.Resource;
import dev.blackbox.turn.TurnKey;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The model door. Listens on 127.0.0.1, on a port that it binds once and keeps while the server
 * lives.
 */
public interface ModelProxy extends Resource {

  int port();

  /** Serves this binding from now on; calls under an older binding's key are refused. */
  void bind(ProxyBinding binding);

  /** Serves nobody. */
  void unbind();

  /**
   * Opens the scope of a turn.
   *
   * @throws IllegalStateException if another scope is open, or nothing is bound
   */
  TurnScope openTurn(TurnKey turn);

  /** Model calls wait at the door from now on. */
  void hold();

  /** Lets waiting calls go, and puts {@code version}, if given, on calls from now on. */
  void release(Optional<String> version);

  /** Calls that are with the engine now. */
  int callsInFlight();

  /**
   * Forwards a pause to the engine: {@code POST <origin><api path>/rollout/pause}, on a connection
   * of its own.
   *
   * @return the engine's answer
   * @throws ControlCallException if it cannot be reached in time or answers with another status
   *     than 2xx
   */
  Map<String, @Nullable Object> pauseUpstream(
      String reason, Optional<Double> timeoutSeconds, Duration within) throws ControlCallException;

  /** Forwards a resume to the engine, as {@link #pauseUpstream}. */
  Map<String, @Nullable Object> resumeUpstream(
      String reason, Optional<String> version, Duration within) throws ControlCallException;
}
