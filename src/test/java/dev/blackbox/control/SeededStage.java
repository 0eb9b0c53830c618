package dev.blackbox.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One thread runs all the virtual threads of a boot, one piece at a time, from one point where they
 * wait or give way to the next; a seed chooses whose piece it is. So the same seed makes the same
 * interleaving again.
 *
 * <p>The JDK has no public way to give virtual threads a scheduler; this uses the one that its own
 * tests use ({@code --add-opens java.base/java.lang} in the build).
 */
@SuppressWarnings("ThreadPriorityCheck") // this is the scheduler
final class SeededStage implements Stage {

  /** Longer than the waits of {@link ModelWorld}'s configuration. */
  private static final long TIMERS_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

  /** After so long what should have come about is missed. */
  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(6);

  private static final int PIECES_MAX = 20_000;

  private Random random = new Random(0);
  private boolean ranked;
  private final IdentityHashMap<Runnable, Double> ranks = new IdentityHashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<Throwable> failures = new ArrayList<>();
  private @Nullable Outside<?> outside;
  private boolean killed;
  private long timersUntilNanos = System.nanoTime();

  @GuardedBy("this")
  private final List<Runnable> ready = new ArrayList<>();

  /** Empty if this JDK has what is needed, else what is missing. */
  static String unavailable() {
    try {
      Thread _ = builder(Runnable::run).unstarted(() -> {});
      return "";
    } catch (IllegalStateException missing) {
      return String.valueOf(missing.getMessage());
    }
  }

  private static Thread.Builder.OfVirtual builder(Executor scheduler) {
    try {
      Constructor<?> constructor =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return (Thread.Builder.OfVirtual) constructor.newInstance(scheduler);
    } catch (ReflectiveOperationException | RuntimeException missing) {
      throw new IllegalStateException(
          "this JDK does not let a test schedule virtual threads: " + missing, missing);
    }
  }

  @Override
  public Thread start(String name, Runnable task) {
    Thread thread = builder(this::submit).name(name).unstarted(() -> runGuarded(task));
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

  private synchronized void submit(Runnable piece) {
    ready.add(piece);
    notifyAll();
  }

  @Override
  public void step() {
    requireAlive();
    if (Thread.currentThread().isVirtual()) {
      Thread.yield();
      requireAlive();
    }
  }

  private void requireAlive() {
    if (killed) {
      throw new KilledException();
    }
  }

  @Override
  public <T> T outside(Supplier<T> body) {
    requireAlive();
    if (!Thread.currentThread().isVirtual()) {
      return body.get();
    }
    Outside<T> call = new Outside<>(body);
    outside = call;
    while (!call.done) {
      Thread.yield();
    }
    requireAlive();
    return call.result();
  }

  @Override
  public void expectTimers() {
    timersUntilNanos = System.nanoTime() + TIMERS_NANOS;
  }

  @Override
  public boolean runUntil(BooleanSupplier done) {
    long stuckNanos = System.nanoTime() + STUCK_NANOS;
    while (!done.getAsBoolean()) {
      if (System.nanoTime() > stuckNanos) {
        return false;
      }
      boolean _ = runPiece(stuckNanos);
    }
    return true;
  }

  @Override
  public void run(int steps) {
    for (int step = 0; step < steps; step++) {
      if (!runPiece(timersUntilNanos)) {
        return;
      }
    }
  }

  @Override
  public void runUntilIdle() {
    run(PIECES_MAX);
  }

  @Override
  public boolean knowsWhenIdle() {
    return true;
  }

  @Override
  public int patience() {
    return 1;
  }

  /**
   * Draws each piece, or gives threads ranks that change now and then, and lets the first go on as
   * long as it can, which finds what only a long delay of one thread shows.
   */
  @Override
  public void reseed(long seed, boolean withRanks) {
    random = new Random(seed);
    ranked = withRanks;
    ranks.clear();
  }

  @Override
  public void kill() {
    killed = true;
    threads.forEach(Thread::interrupt);
    for (int piece = 0; piece < PIECES_MAX && runPiece(0); piece++) {}
  }

  @Override
  public List<Throwable> failures() {
    return failures;
  }

  private boolean runPiece(long untilNanos) {
    Runnable piece = next(untilNanos);
    if (piece == null) {
      return false;
    }
    piece.run();
    Outside<?> call = outside;
    if (call != null) {
      outside = null;
      call.run();
    }
    return true;
  }

  private synchronized @Nullable Runnable next(long untilNanos) {
    while (ready.isEmpty()) {
      long leftMillis = TimeUnit.NANOSECONDS.toMillis(untilNanos - System.nanoTime());
      if (leftMillis <= 0) {
        return null;
      }
      try {
        wait(leftMillis);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return null;
      }
    }
    return ready.remove(ranked ? firstByRank() : random.nextInt(ready.size()));
  }

  @GuardedBy("this")
  private int firstByRank() {
    int first = 0;
    for (int i = 1; i < ready.size(); i++) {
      if (rank(ready.get(i)) > rank(ready.get(first))) {
        first = i;
      }
    }
    if (random.nextInt(8) == 0) {
      ranks.put(ready.get(first), random.nextDouble());
    }
    return first;
  }

  private double rank(Runnable piece) {
    return ranks.computeIfAbsent(piece, _ -> random.nextDouble());
  }

  /** A call that this stage makes for a thread between two pieces. */
  private static final class Outside<T> {
    private final Supplier<T> body;
    private boolean done;
    private @Nullable T result;
    private @Nullable RuntimeException failure;

    Outside(Supplier<T> body) {
      this.body = body;
    }

    void run() {
      try {
        result = body.get();
      } catch (RuntimeException failed) {
        failure = failed;
      }
      done = true;
    }

    @SuppressWarnings("NullAway") // a result that is null is the body's own
    T result() {
      if (failure != null) {
        throw failure;
      }
      return result;
    }
  }
}
