package dev.blackbox.ledger;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
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

  /** Reads of even versions that go on now, by key. */
  @GuardedBy("lock")
  private final Map<Object, Reading> readings = new HashMap<>();

  private record Entry(Object snapshot, long bytes) {}

  /**
   * A read that others may wait for.
   *
   * @param version of the rows when it began
   * @param result completed with nothing when the read failed
   */
  private record Reading(long version, CompletableFuture<Optional<?>> result) {
    Reading(long version) {
      this(version, new CompletableFuture<>());
    }
  }

  RecentReads(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  Optional<SessionSnapshot> session(long key) {
    return Optional.ofNullable((SessionSnapshot) snapshot(key));
  }

  Optional<TurnSnapshot> turn(TurnKey key) {
    return Optional.ofNullable((TurnSnapshot) snapshot(key));
  }

  /**
   * What is kept of a session, or what {@code read} finds. When hundreds who waited for the same
   * change ask at once, one of them reads and the others wait for it, unless rows change meanwhile.
   */
  Optional<SessionSnapshot> session(long key, Supplier<Optional<SessionSnapshot>> read) {
    return find(key, SessionSnapshot.class, read, this::keep);
  }

  /** As {@link #session(long, Supplier)}. */
  Optional<TurnSnapshot> turn(TurnKey key, Supplier<Optional<TurnSnapshot>> read) {
    return find(key, TurnSnapshot.class, read, this::keep);
  }

  private <S> Optional<S> find(
      Object key, Class<S> type, Supplier<Optional<S>> read, ObjLongConsumer<S> keeper) {
    return switch (look(key)) {
      case Kept(Object snapshot) -> Optional.of(type.cast(snapshot));
      case Joined(Reading reading) -> {
        Optional<?> shared = reading.result.join();
        // It failed, or there is none: each who asks learns by itself.
        yield shared.isPresent() ? shared.map(type::cast) : read.get();
      }
      case Led(Reading reading) -> {
        Optional<S> found = Optional.empty();
        try {
          found = read.get();
          found.ifPresent(snapshot -> keeper.accept(snapshot, reading.version));
          yield found;
        } finally {
          over(key, reading, found);
        }
      }
    };
  }

  /** What somebody who wants to know a row has to do. */
  private sealed interface Look {}

  private record Kept(Object snapshot) implements Look {}

  private record Joined(Reading reading) implements Look {}

  private record Led(Reading reading) implements Look {}

  private Look look(Object key) {
    lock.lock();
    try {
      Entry entry = entries.get(key);
      if (entry != null) {
        return new Kept(entry.snapshot);
      }
      Reading running = readings.get(key);
      if (running != null && running.version == version) {
        return new Joined(running);
      }
      Reading ours = new Reading(version);
      if (version % 2 == 0) {
        readings.put(key, ours);
      }
      return new Led(ours);
    } finally {
      lock.unlock();
    }
  }

  private void over(Object key, Reading reading, Optional<?> found) {
    lock.lock();
    try {
      readings.remove(key, reading);
    } finally {
      lock.unlock();
    }
    reading.result.complete(found);
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
