package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.turn.TurnKey;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What the door goes by: whom it serves, which turn is open, whether calls must wait, and the
 * weight version that they carry. Its lock may be held while a turn's is taken, never the other way
 * round, and never during I/O.
 */
final class Desk {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition doorMoved = lock.newCondition();

  @GuardedBy("lock")
  private @Nullable Serving serving;

  @GuardedBy("lock")
  private boolean held;

  @GuardedBy("lock")
  private Optional<String> version = Optional.empty();

  @Nullable Serving serving() {
    lock.lock();
    try {
      return serving;
    } finally {
      lock.unlock();
    }
  }

  Optional<String> version() {
    lock.lock();
    try {
      return version;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Serves this binding, or nobody, from now on.
   *
   * @return the turn that was open and now has to be closed
   */
  Optional<OpenTurn> serve(@Nullable ProxyBinding binding) {
    lock.lock();
    try {
      Serving before = serving;
      serving = binding == null ? null : new Serving(binding, null);
      // A version belongs to the engine that announced it.
      version = Optional.empty();
      return Optional.ofNullable(before).map(Serving::turn);
    } finally {
      lock.unlock();
    }
  }

  OpenTurn open(TurnKey key, Map<String, String> trace, ProxyConfig.AgentRetries agentRetries) {
    lock.lock();
    try {
      Serving now = serving;
      if (now == null) {
        throw new IllegalStateException("no turn can be opened while nothing is bound");
      }
      if (now.turn() != null) {
        throw new IllegalStateException("a turn is already open: " + now.turn().key().turnId());
      }
      OpenTurn turn =
          new OpenTurn(
              key,
              TurnSecrets.issue(now.binding().agentKey()),
              trace,
              now.binding().options().stepsMax(),
              new KnownCalls(agentRetries),
              this);
      serving = new Serving(now.binding(), turn);
      return turn;
    } finally {
      lock.unlock();
    }
  }

  /** Takes this turn away if it is still the open one. */
  void closed(OpenTurn turn) {
    lock.lock();
    try {
      if (serving != null && serving.turn() == turn) {
        serving = new Serving(serving.binding(), null);
      }
    } finally {
      lock.unlock();
    }
  }

  void hold() {
    lock.lock();
    try {
      held = true;
    } finally {
      lock.unlock();
    }
  }

  void release(Optional<String> newVersion) {
    lock.lock();
    try {
      if (newVersion.isPresent()) {
        version = newVersion;
      }
      held = false;
      doorMoved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Makes visits that wait look at their ending. */
  void wake() {
    lock.lock();
    try {
      doorMoved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits while calls are held; a waiting call is not in flight. */
  void pass(Visit visit, OpenTurn turn, LifeSigns signs) throws VisitEndedException {
    boolean interrupted = false;
    lock.lock();
    try {
      if (!held) {
        return;
      }
      turn.parked();
      try {
        while (held && visit.ending().isEmpty()) {
          interrupted |= await(signs, Long.MAX_VALUE);
        }
      } finally {
        turn.unparked();
      }
    } finally {
      lock.unlock();
      restore(interrupted);
    }
    visit.throwIfEnded();
  }

  /** Waits for so long. */
  void wait(Visit visit, LifeSigns signs, Duration time) throws VisitEndedException {
    long until = System.nanoTime() + time.toNanos();
    boolean interrupted = false;
    lock.lock();
    try {
      long left = until - System.nanoTime();
      while (left > 0 && visit.ending().isEmpty()) {
        interrupted |= await(signs, left);
        left = until - System.nanoTime();
      }
    } finally {
      lock.unlock();
      restore(interrupted);
    }
    visit.throwIfEnded();
  }

  /** Nothing is broken off here by an interrupt that is not by its visit's end. */
  private static void restore(boolean interrupted) {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for a change, this long at most, and gives the agent its signs, without the lock.
   *
   * @return whether the thread was interrupted
   */
  @GuardedBy("lock")
  @SuppressWarnings("WaitNotInLoop") // the callers' loops look at the condition again
  private boolean await(LifeSigns signs, long nanosMax) throws VisitEndedException {
    boolean interrupted = false;
    try {
      long _ = doorMoved.awaitNanos(Math.min(signs.patience().toNanos(), nanosMax));
    } catch (InterruptedException _) {
      interrupted = true;
    }
    lock.unlock();
    try {
      signs.give();
    } finally {
      lock.lock();
    }
    return interrupted;
  }
}
