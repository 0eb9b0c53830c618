package dev.blackbox.process;

import dev.blackbox.kernel.Resource;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * A process that we started, with all that it starts. Closing ends the whole tree with the default
 * grace.
 */
public interface ManagedProcess extends Resource {

  ProcessIdentity identity();

  /** Exit code of the leader if it has ended; death by signal n is −n. */
  OptionalInt exitCode();

  boolean isAlive();

  /** Completes with the leader's exit code, whatever becomes of its children. */
  CompletableFuture<Integer> onExit();

  /** What was captured so far; empty for a stream that goes to a file. */
  Captured stdout();

  Captured stderr();

  /**
   * Ends the tree: the group gets SIGTERM, and after the grace everything that is left, also what
   * moved to a session of its own, gets SIGKILL. Waits until it is gone.
   *
   * @return true if nothing of the tree is left
   */
  boolean end(Duration grace);

  /**
   * Ends what the leader left behind after it exited: the rest of its group and whatever carries
   * its marker.
   */
  boolean sweep();

  /**
   * Captured output.
   *
   * @param text UTF-8 with replacement, cut at character borders; where bytes were dropped, a line
   *     says how many
   * @param droppedBytes bytes left out between head and tail
   */
  record Captured(String text, long droppedBytes) {
    public static final Captured NOTHING = new Captured("", 0);
  }
}
