package dev.blackbox.ledger;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sessions and turns as the last read of their rows found them, so that a poll or a replay costs no
 * read of the database. It is no second store: what is not in it is read, and all that it holds may
 * be forgotten at any time. Thread-safe.
 *
 * <p>It never holds what the rows do not say: the writer forgets what a batch changes before the
 * rows change, and until they have changed nothing is kept that was read meanwhile.
 */
final class RecentReads {

  /** What an entry needs beside its texts, about. */
  private static final int ENTRY_BYTES = 1024;

  /** No single entry may take more than this part of the room. */
  private static final int PART_MAX = 4;

  private final long bytesMax;
  private final ReentrantLock lock = new ReentrantLock();

  /** By session key (a Long) or {@link TurnKey}; the one that was not used for longest first. */
  @GuardedBy("lock")
  private final Map<Object, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

  @GuardedBy("lock")
  private long bytes;

  /** Even while the rows stand still, odd while a batch is being committed. */
  @GuardedBy("lock")
  private long version;

  private record Entry(Object snapshot, long bytes) {}

  RecentReads(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  Optional<SessionSnapshot> session(long key) {
    return Optional.ofNullable((SessionSnapshot) snapshot(key));
  }

  Optional<TurnSnapshot> turn(TurnKey key) {
    return Optional.ofNullable((TurnSnapshot) snapshot(key));
  }

  private @Nullable Object snapshot(Object key) {
    lock.lock();
    try {
      Entry entry = entries.get(key);
      return entry == null ? null : entry.snapshot;
    } finally {
      lock.unlock();
    }
  }

  /** To be taken before a read whose result is to be kept. */
  long version() {
    lock.lock();
    try {
      return version;
    } finally {
      lock.unlock();
    }
  }

  /** Keeps what was read, unless rows have changed since, or are changing. */
  void keep(SessionSnapshot read, long versionBefore) {
    keep(read.key(), read, bytes(read), versionBefore);
  }

  /** As {@link #keep(SessionSnapshot, long)}. */
  void keep(TurnSnapshot read, long versionBefore) {
    keep(read.key(), read, bytes(read), versionBefore);
  }

  private void keep(Object key, Object snapshot, long size, long versionBefore) {
    lock.lock();
    try {
      if (versionBefore != version || version % 2 != 0 || size > bytesMax / PART_MAX) {
        return;
      }
      forget(key);
      entries.put(key, new Entry(snapshot, size));
      bytes += size;
      Iterator<Entry> oldest = entries.values().iterator();
      while (bytes > bytesMax) {
        bytes -= oldest.next().bytes;
        oldest.remove();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * The rows of these sessions and turns are about to change.
   *
   * @param others whether rows are that are not named
   */
  void changing(Collection<Object> keys, boolean others) {
    lock.lock();
    try {
      version++;
      if (others) {
        entries.clear();
        bytes = 0;
      }
      keys.forEach(this::forget);
    } finally {
      lock.unlock();
    }
  }

  /** They have changed, or have not: what is read from now on may be kept. */
  void changed() {
    lock.lock();
    try {
      version++;
    } finally {
      lock.unlock();
    }
  }

  /** The database was opened again: nobody may go on with what was read of the one before. */
  void forgetAll() {
    lock.lock();
    try {
      version += 2;
      entries.clear();
      bytes = 0;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void forget(Object key) {
    Entry entry = entries.remove(key);
    if (entry != null) {
      bytes -= entry.bytes;
    }
  }

  private static long bytes(SessionSnapshot session) {
    return ENTRY_BYTES
        + session.systemPrompt().map(prompt -> size(prompt.text())).orElse(0L)
        + size(session.stateReason());
  }

  private static long bytes(TurnSnapshot turn) {
    long size = ENTRY_BYTES + size(turn.requestJson());
    if (turn.settlement().isPresent()) {
      TurnOutcome outcome = turn.settlement().get().outcome();
      size += size(outcome.work().outputsJson()) + size(outcome.work().traceJson());
      if (outcome instanceof TurnOutcome.WithoutAnswer without) {
        size += size(without.error().message()) + size(String.valueOf(without.error().details()));
      }
    }
    return size;
  }

  /** At most; text without other than Latin letters needs half. */
  private static long size(String text) {
    return (long) Character.BYTES * text.length();
  }
}
