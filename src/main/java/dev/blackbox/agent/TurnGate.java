package dev.blackbox.agent;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.agent.Agent.StopReport;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What the thread of a turn and the threads that want to stop it tell each other. There is one turn
 * at a time; its work is whatever can be ended, such as a process or a call. Thread-safe.
 *
 * @param <W> the work
 */
public final class TurnGate<W> {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private @Nullable Turn<W> current;

  @GuardedBy("lock")
  private boolean closed;

  /** A turn that runs. Fields are guarded by the gate's lock. */
  public static final class Turn<W> {
    private @Nullable W work;
    private boolean stopped;
    private boolean over;
    private StopReport report = StopReport.STOPPED;

    private Turn() {}
  }

  /** Ends the work of a turn. */
  @FunctionalInterface
  public interface Ending<W> {
    /** Says what could not be ended; empty if all is well. */
    String end(W work, Duration within);
  }

  /**
   * The thread of a turn begins. {@link #finish} must follow.
   *
   * @throws IllegalStateException if a turn runs already
   */
  public Turn<W> begin() {
    lock.lock();
    try {
      if (current != null) {
        throw new IllegalStateException("a turn runs already");
      }
      Turn<W> turn = new Turn<>();
      turn.stopped = closed;
      current = turn;
      return turn;
    } finally {
      lock.unlock();
    }
  }

  /**
   * From here on a stop ends this work.
   *
   * @return false if a stop came before: then the caller has to end the work itself
   */
  public boolean attach(Turn<W> turn, W work) {
    lock.lock();
    try {
      turn.work = work;
      return !turn.stopped;
    } finally {
      lock.unlock();
    }
  }

  public boolean isStopped(Turn<W> turn) {
    lock.lock();
    try {
      return turn.stopped;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a turn runs. */
  public boolean isBusy() {
    lock.lock();
    try {
      return current != null;
    } finally {
      lock.unlock();
    }
  }

  /** The work has ended: a stop that comes later stops nothing. Says whether one came before. */
  public boolean over(Turn<W> turn) {
    lock.lock();
    try {
      turn.over = true;
      return turn.stopped;
    } finally {
      lock.unlock();
    }
  }

  /** What those who stopped the turn are told. */
  public void report(Turn<W> turn, StopReport achieved) {
    lock.lock();
    try {
      turn.report = achieved;
    } finally {
      lock.unlock();
    }
  }

  /** The thread of the turn is done. */
  public void finish(Turn<W> turn) {
    lock.lock();
    try {
      if (current == turn) {
        current = null;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the turn that runs, if any, and waits for its end.
   *
   * @param within how long to try
   * @param ending is called without any lock, and only while the work goes on
   */
  public StopReport stop(Duration within, Ending<W> ending) {
    long deadline = System.nanoTime() + within.toNanos();
    Turn<W> turn;
    @Nullable W work;
    boolean byItself;
    lock.lock();
    try {
      if (current == null) {
        return StopReport.NOTHING;
      }
      turn = current;
      byItself = turn.over;
      turn.stopped |= !byItself;
      work = byItself ? null : turn.work;
    } finally {
      lock.unlock();
    }
    String left = work == null ? "" : ending.end(work, within);
    if (!left.isEmpty()) {
      return StopReport.unproved(left);
    }
    if (!awaitEnd(turn, deadline)) {
      return StopReport.unproved("the turn did not end within " + within.toMillis() + " ms");
    }
    return byItself ? StopReport.NOTHING : reportOf(turn);
  }

  private StopReport reportOf(Turn<W> turn) {
    lock.lock();
    try {
      return turn.report;
    } finally {
      lock.unlock();
    }
  }

  private boolean awaitEnd(Turn<W> turn, long deadline) {
    lock.lock();
    try {
      long left = deadline - System.nanoTime();
      while (current == turn) {
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      return true;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Turns that begin from here on are stopped before they do anything. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }
}
