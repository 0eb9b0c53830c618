package dev.blackbox.agent;

import dev.blackbox.process.ManagedProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The end of an agent's process, noticed and told. */
public final class ProcessEnd {

  /** Source: the reference server's length of log tails in messages. */
  private static final int TAIL_BYTES_MAX = 2_000;

  private ProcessEnd() {}

  /** True if the process ended within the time. */
  public static boolean await(ManagedProcess process, Duration within) throws InterruptedException {
    try {
      process.onExit().get(within.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException alive) {
      return false;
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("exits complete normally", impossible);
    }
  }

  /**
   * The last lines of a log, for messages.
   *
   * @param from offset in bytes at which the interesting part begins
   */
  public static String tail(Path log, long from) {
    return RuntimeFiles.tail(log, from, TAIL_BYTES_MAX);
  }

  /** To be appended to a message; empty if the log is. */
  public static String errors(Path log, long from) {
    String tail = tail(log, from);
    return tail.isEmpty() ? "" : "; stderr tail: " + tail;
  }

  /** How a process that has ended did so, in words. */
  public static String told(String type, ManagedProcess process, Path errorsLog, long errorsFrom) {
    return type
        + " exited with code "
        + process.exitCode().orElse(0)
        + errors(errorsLog, errorsFrom);
  }
}
