package dev.blackbox.control;

import dev.blackbox.kernel.Problem;
import java.util.Map;

/**
 * An interrupt of a waiting caller means that the server is shutting down, and is answered as that.
 */
final class Interrupts {

  private Interrupts() {}

  static <T> T asProblem(Waiting<T> waiting) {
    try {
      return waiting.run();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Problem(
          dev.blackbox.kernel.ErrorCode.SERVICE_UNAVAILABLE,
          "The server is shutting down.",
          Map.of("state", ServerState.SHUTTING_DOWN.wireName()),
          interrupted);
    }
  }

  /** Something that blocks. */
  interface Waiting<T> {
    T run() throws InterruptedException;
  }
}
