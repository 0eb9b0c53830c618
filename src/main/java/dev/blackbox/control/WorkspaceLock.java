package dev.blackbox.control;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The agent's workspace belongs to one turn or one command at a time. Fair. Nothing that only reads
 * state ever waits for it.
 */
final class WorkspaceLock {

  private final Semaphore one = new Semaphore(1, true);

  boolean tryAcquire(Duration within) throws InterruptedException {
    return one.tryAcquire(within.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Waits for its turn; who asks first has it first. */
  void acquire() throws InterruptedException {
    one.acquire();
  }

  void release() {
    one.release();
  }
}
