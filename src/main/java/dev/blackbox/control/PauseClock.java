package dev.blackbox.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A clock that stands still while paused, and the gate at which turns wait. Thread-safe; callers of
 * {@link #awaitRunning} block. Times are of the monotonic clock.
 */
final class PauseClock {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition lookAgain = lock.newCondition();

  @GuardedBy("lock")
  private boolean paused;

  @GuardedBy("lock")
  private long pausedSinceNanos;

  @GuardedBy("lock")
  private long pausedTotalNanos;

  @GuardedBy("lock")
  private long wakes;

  void pause() {
    lock.lock();
    try {
      if (!paused) {
        paused = true;
        pausedSinceNanos = System.nanoTime();
      }
    } finally {
      lock.unlock();
    }
  }

  void resume() {
    lock.lock();
    try {
      if (paused) {
        paused = false;
        pausedTotalNanos += System.nanoTime() - pausedSinceNanos;
        lookAgain.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isPaused() {
    lock.lock();
    try {
      return paused;
    } finally {
      lock.unlock();
    }
  }

  /** Nanoseconds of running time since some fixed moment; stands still during a pause. */
  long runningNanos() {
    lock.lock();
    try {
      long now = paused ? pausedSinceNanos : System.nanoTime();
      return now - pausedTotalNanos;
    } finally {
      lock.unlock();
    }
  }

  /** Time spent in pauses, the current one included. */
  Duration pausedTotal() {
    lock.lock();
    try {
      long current = paused ? System.nanoTime() - pausedSinceNanos : 0;
      return Duration.ofNanos(pausedTotalNanos + current);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes those who wait at the gate return at once, because they may have to do something else.
   */
  void wake() {
    lock.lock();
    try {
      wakes++;
      lookAgain.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits a while for the pause to end, or for {@link #wake}. True if it is not paused. */
  boolean awaitRunning(Duration within) throws InterruptedException {
    lock.lock();
    try {
      long before = wakes;
      long leftNanos = within.toNanos();
      while (paused && wakes == before && leftNanos > 0) {
        leftNanos = lookAgain.awaitNanos(leftNanos);
      }
      return !paused;
    } finally {
      lock.unlock();
    }
  }
}
