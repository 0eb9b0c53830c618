package dev.blackbox.control;

import java.time.Duration;

/**
 * A clock that stands still while paused, and the gate at which turns wait. Thread-safe; callers of
 * {@link #awaitRunning} block. Times are of the monotonic clock.
 */
final class PauseClock {

  private boolean paused;
  private long pausedSinceNanos;
  private long pausedTotalNanos;

  synchronized void pause() {
    if (!paused) {
      paused = true;
      pausedSinceNanos = System.nanoTime();
    }
  }

  synchronized void resume() {
    if (paused) {
      paused = false;
      pausedTotalNanos += System.nanoTime() - pausedSinceNanos;
      notifyAll();
    }
  }

  synchronized boolean isPaused() {
    return paused;
  }

  /** Nanoseconds of running time since some fixed moment; stands still during a pause. */
  synchronized long runningNanos() {
    long now = paused ? pausedSinceNanos : System.nanoTime();
    return now - pausedTotalNanos;
  }

  /** Time spent in pauses, the current one included. */
  synchronized Duration pausedTotal() {
    long current = paused ? System.nanoTime() - pausedSinceNanos : 0;
    return Duration.ofNanos(pausedTotalNanos + current);
  }

  /** Waits a while for the pause to end. True if it is not paused. */
  synchronized boolean awaitRunning(Duration within) throws InterruptedException {
    long end = System.nanoTime() + within.toNanos();
    while (paused) {
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return false;
      }
      wait(leftMillis);
    }
    return true;
  }
}
