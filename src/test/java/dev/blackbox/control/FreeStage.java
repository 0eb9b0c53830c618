package dev.blackbox.control;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Threads run as the machine lets them, in parallel. */
final class FreeStage implements Stage {

  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean killed;

  @Override
  public Thread start(String name, Runnable task) {
    Thread thread = Thread.ofVirtual().name(name).unstarted(() -> runGuarded(task));
    threads.add(thread);
    thread.start();
    return thread;
  }

  private void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (KilledException _) {
      // As it should be.
    } catch (RuntimeException | Error failure) {
      if (!killed) {
        failures.add(failure);
      }
    }
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // a hint is all that is wanted here
  public void step() {
    if (ThreadLocalRandom.current().nextBoolean()) {
      Thread.yield();
    }
    if (killed) {
      throw new KilledException();
    }
  }

  @Override
  public <T> T outside(Supplier<T> body) {
    return body.get();
  }

  @Override
  public void expectTimers() {}

  @Override
  public boolean runUntil(BooleanSupplier done) {
    long end = System.nanoTime() + STUCK_NANOS;
    while (!done.getAsBoolean()) {
      if (System.nanoTime() > end) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  @Override
  public void run(int steps) {
    LockSupport.parkNanos(steps * LOOK_NANOS);
  }

  @Override
  public void runUntilIdle() {
    LockSupport.parkNanos(LOOK_NANOS);
  }

  @Override
  public boolean knowsWhenIdle() {
    return false;
  }

  @Override
  public int patience() {
    return 1000;
  }

  @Override
  public void reseed(long seed, boolean ranked) {}

  /** Waits for threads to be gone, so that the next boot has the files for itself. */
  @Override
  public void kill() {
    killed = true;
    threads.forEach(Thread::interrupt);
    boolean _ = runUntil(() -> threads.stream().noneMatch(Thread::isAlive));
  }

  @Override
  public List<Throwable> failures() {
    return List.copyOf(failures);
  }
}
