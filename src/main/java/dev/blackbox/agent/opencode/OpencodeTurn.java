package dev.blackbox.agent.opencode;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.process.ProcessIdentity;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What the thread of a turn and the threads that want to stop it tell each other. */
final class OpencodeTurn {

  private final Set<ProcessIdentity> before;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition noAborts = lock.newCondition();

  @GuardedBy("lock")
  private boolean stopRequested;

  @GuardedBy("lock")
  private boolean promptOver;

  @GuardedBy("lock")
  private int abortsInFlight;

  @GuardedBy("lock")
  private StopReport report = StopReport.STOPPED;

  /**
   * @param before processes of earlier turns, which go on
   */
  OpencodeTurn(Set<ProcessIdentity> before) {
    this.before = before;
  }

  Set<ProcessIdentity> before() {
    return before;
  }

  /** False if the prompt was answered before: then the turn ends by itself. */
  boolean requestStop() {
    lock.lock();
    try {
      stopRequested |= !promptOver;
      return stopRequested;
    } finally {
      lock.unlock();
    }
  }

  boolean isStopRequested() {
    lock.lock();
    try {
      return stopRequested;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A call that aborts is about to be made. False if the prompt was answered: then it could hit the
   * next turn, and must not be made. If true, {@link #endAbort} must follow.
   */
  boolean beginAbort() {
    lock.lock();
    try {
      if (promptOver) {
        return false;
      }
      abortsInFlight++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  void endAbort() {
    lock.lock();
    try {
      abortsInFlight--;
      noAborts.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The prompt was answered. Waits for the calls that abort, each of which has a limit.
   *
   * @return whether a stop was requested before
   */
  boolean endPrompt() {
    lock.lock();
    try {
      promptOver = true;
      while (abortsInFlight > 0) {
        noAborts.awaitUninterruptibly();
      }
      return stopRequested;
    } finally {
      lock.unlock();
    }
  }

  void report(StopReport achieved) {
    lock.lock();
    try {
      report = achieved;
    } finally {
      lock.unlock();
    }
  }

  StopReport stopReport() {
    lock.lock();
    try {
      return report;
    } finally {
      lock.unlock();
    }
  }

  void end() {
    ended.countDown();
  }

  boolean awaitEnd(Duration within) throws InterruptedException {
    return ended.await(Math.max(0, within.toNanos()), TimeUnit.NANOSECONDS);
  }
}
