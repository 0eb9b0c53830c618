package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Resource;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What the agent of one call is told, as far as it is told, so that its retry can be told the same.
 * Thread-safe.
 */
final class Tape {

  /** Who has the bytes. Called with the lock held; gives back with a negative number. */
  @FunctionalInterface
  interface Room {
    boolean reserve(Tape tape, int bytes);
  }

  /**
   * How an answer begins.
   *
   * @param streamed whether it comes piece by piece
   */
  record Head(int status, Map<String, String> headers, boolean streamed) {}

  private static final int FIRST_BYTES = 1 << 10;

  private final ReentrantLock lock;
  private final Condition moved;
  private final Room room;

  @GuardedBy("lock")
  private @Nullable Head head;

  @GuardedBy("lock")
  private byte[] bytes = {};

  @GuardedBy("lock")
  private int length;

  @GuardedBy("lock")
  private boolean whole;

  @GuardedBy("lock")
  private boolean lost;

  @GuardedBy("lock")
  private Optional<String> verdict = Optional.empty();

  /**
   * @param lock shared by all that have the same room
   * @param wanted false for one that keeps nothing but the verdict
   */
  Tape(ReentrantLock lock, Room room, boolean wanted) {
    this.lock = lock;
    this.moved = lock.newCondition();
    this.room = room;
    this.lost = !wanted;
  }

  void begin(Head begun) {
    lock.lock();
    try {
      if (isOpen()) {
        head = begun;
        moved.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  void append(byte[] from, int offset, int count) {
    lock.lock();
    try {
      if (isOpen() && fits(count)) {
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
        moved.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The answer is whole, whatever it says. */
  void end() {
    lock.lock();
    try {
      if (isOpen()) {
        whole = true;
        moved.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The call is over, and nothing follows. */
  void finish(String callVerdict) {
    lock.lock();
    try {
      verdict = Optional.of(callVerdict);
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How the call ended; empty while it runs. */
  Optional<String> verdict() {
    lock.lock();
    try {
      return verdict;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a follower would be told all of it. */
  boolean canBeFollowed() {
    lock.lock();
    try {
      return !lost;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the call went well and its whole answer is here. */
  boolean canBeReplayed() {
    lock.lock();
    try {
      return !lost && whole && verdict.filter("ok"::equals).isPresent();
    } finally {
      lock.unlock();
    }
  }

  /** Nobody will ask for it any more. */
  void forget() {
    lock.lock();
    try {
      lose();
    } finally {
      lock.unlock();
    }
  }

  Reader follow() {
    return new Reader();
  }

  @GuardedBy("lock")
  private boolean isOpen() {
    return !lost && verdict.isEmpty();
  }

  @GuardedBy("lock")
  private boolean fits(int more) {
    long needed = (long) length + more;
    if (needed <= bytes.length) {
      return true;
    }
    long larger = Math.max(needed, Math.max(FIRST_BYTES, 2L * bytes.length));
    if (larger > Integer.MAX_VALUE - 64 || !room.reserve(this, (int) larger - bytes.length)) {
      lose();
      return false;
    }
    bytes = Arrays.copyOf(bytes, (int) larger);
    return true;
  }

  @GuardedBy("lock")
  private void lose() {
    lost = true;
    boolean _ = room.reserve(this, -bytes.length);
    bytes = new byte[0];
    length = 0;
    moved.signalAll();
  }

  /** One who is told the same. Closing it, which any thread may do, ends all waiting. */
  final class Reader implements Resource {

    @GuardedBy("lock")
    private boolean closed;

    private int position;

    /** Waits for the head; empty if there is none to come. */
    Optional<Head> head() {
      lock.lock();
      try {
        while (head == null && goesOn()) {
          moved.awaitUninterruptibly();
        }
        return lost || closed ? Optional.empty() : Optional.ofNullable(head);
      } finally {
        lock.unlock();
      }
    }

    /** Waits for more of the body; empty at its end. */
    byte[] next() {
      lock.lock();
      try {
        while (position >= length && goesOn()) {
          moved.awaitUninterruptibly();
        }
        if (lost || closed) {
          return new byte[0];
        }
        byte[] piece = Arrays.copyOfRange(bytes, position, length);
        position = length;
        return piece;
      } finally {
        lock.unlock();
      }
    }

    /** Waits for the whole body. */
    byte[] all() {
      lock.lock();
      try {
        while (goesOn()) {
          moved.awaitUninterruptibly();
        }
        return Arrays.copyOf(bytes, length);
      } finally {
        lock.unlock();
      }
    }

    /** Whether the answer came to an end, and all of it is here. */
    boolean isWhole() {
      lock.lock();
      try {
        return whole && !lost;
      } finally {
        lock.unlock();
      }
    }

    /** Waits for the end of the call; empty if the reader was closed before. */
    Optional<String> verdict() {
      lock.lock();
      try {
        while (verdict.isEmpty() && !closed) {
          moved.awaitUninterruptibly();
        }
        return verdict;
      } finally {
        lock.unlock();
      }
    }

    @GuardedBy("lock")
    private boolean goesOn() {
      return !whole && !lost && !closed && verdict.isEmpty();
    }

    @Override
    public void close() {
      lock.lock();
      try {
        closed = true;
        moved.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
