package dev.blackbox.process;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits between two looks, each time twice as long, up to a bound. Not ended by interrupts. */
final class Pause {

  private final long nanosMax;
  private long nanos;

  Pause(Duration first, Duration max) {
    nanos = first.toNanos();
    nanosMax = max.toNanos();
  }

  void take() {
    boolean interrupted = Thread.interrupted();
    long end = System.nanoTime() + nanos;
    long left = nanos;
    while (left > 0) {
      LockSupport.parkNanos(left);
      interrupted |= Thread.interrupted();
      left = end - System.nanoTime();
    }
    nanos = Math.min(nanosMax, 2 * nanos);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
