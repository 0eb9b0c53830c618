package dev.blackbox.process;

import dev.blackbox.kernel.Resource;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A process that we started, with all that it starts. Closing ends the whole tree with the default
 * grace.
 */
public interface ManagedProcess extends Resource {

  ProcessIdentity identity();

  /**
   * Exit code of the leader if it has ended. Death by signal n is −n. Java reports such a death as
   * 128 + n, the convention of shells, so a program that itself exits with 129 to 192 counts as
   * killed, too.
   */
  OptionalInt exitCode();

  boolean isAlive();

  /**
   * Completes with the leader's exit code, whatever becomes of its children. What the leader
   * printed is captured by then.
   */
  CompletableFuture<Integer> onExit();

  /** What was captured so far; empty for a stream that goes to a file. */
  Captured stdout();

  Captured stderr();

  /**
   * Sends SIGINT to the leader alone, for programs that end a turn in good order on it. Does
   * nothing if it has ended.
   */
  void interrupt();

  /**
   * Ends the tree: the group gets SIGTERM, and after the grace everything that is left, also what
   * moved to a session of its own, gets SIGKILL. If the group is gone sooner, the rest of the grace
   * is not waited for. Waits until all is gone, for a few seconds after the grace at most. Not
   * ended by interrupts.
   *
   * @return true if nothing of the tree is left
   */
  boolean end(Duration grace);

  /**
   * What runs of the tree now, but for the leader: its group, its session, what descends from it,
   * and what carries its own marker. A process that left all of these, with another environment and
   * an ended parent, is not found.
   */
  Set<ProcessIdentity> others();

  /**
   * Kills what the leader left behind after it exited, or, while it runs, all that it started. The
   * leader itself is left alone. Waits until they are gone, for a few seconds at most.
   *
   * @return true if nothing of it is left
   */
  default boolean sweep() {
    return sweep(Set.of());
  }

  /** As {@link #sweep()}, but leaves some of {@link #others()} alone. */
  boolean sweep(Set<ProcessIdentity> spared);

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
