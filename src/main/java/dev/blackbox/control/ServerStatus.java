package dev.blackbox.control;

import dev.blackbox.kernel.Problem;
import java.util.Map;

/** The one place that holds the server's state. Thread-safe; never blocks. */
final class ServerStatus {

  /**
   * The state, and why.
   *
   * @param reason empty unless the state is an error
   */
  record Now(ServerState state, String reason) {}

  private Now now = new Now(ServerState.IDLE, "");

  synchronized Now now() {
    return now;
  }

  ServerState state() {
    return now().state();
  }

  /** Moves to a state that the table allows; false, and nothing changes, if it does not. */
  synchronized boolean become(ServerState next, String reason) {
    if (!now.state().mayBecome(next)) {
      return false;
    }
    now = new Now(next, reason);
    return true;
  }

  /**
   * Fails with 503 unless ready; the words are the reference server's, the state is its plain name.
   */
  void requireReady() {
    Now current = now();
    if (current.state() != ServerState.READY) {
      throw notReady(current);
    }
  }

  static Problem notReady(Now current) {
    String why = current.reason().isEmpty() ? "" : ": " + current.reason();
    return Problem.unavailable(
        "Server is not ready. current_state=" + current.state().wireName() + why,
        Map.of("state", current.state().wireName()));
  }
}
