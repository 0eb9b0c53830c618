package dev.blackbox.ledger;

import dev.blackbox.ledger.FactCodec.Encoded;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The facts of one database transaction that is still open: applied to its rows already, so that a
 * verb sees the verbs before it, and not in the journal yet. Used by the writer's thread only.
 */
final class Batch {

  private final Handle handle;
  private final InstantSource clock;
  private final long settled;
  private final List<ByteBuffer> records = new ArrayList<>();
  private Chain head;
  private Instant newest;
  private long bytes;
  private boolean readOnly;

  /**
   * @param newest time of the newest fact: no later fact has an earlier one
   */
  Batch(Handle handle, InstantSource clock, Chain head, Instant newest) {
    this.handle = handle;
    this.clock = clock;
    this.settled = head.sequence();
    this.head = head;
    this.newest = newest;
  }

  /** One in which {@link #record} fails before it touches a row. */
  static Batch readOnly(Handle handle, InstantSource clock, Chain head, Instant newest) {
    Batch batch = new Batch(handle, clock, head, newest);
    batch.readOnly = true;
    return batch;
  }

  /** Something was to be recorded, and nothing can be. */
  static final class ReadOnlyException extends RuntimeException {}

  /** The open transaction. */
  Handle rows() {
    return handle;
  }

  /**
   * The time of the next fact. Microseconds, as it is written: rows made now equal rebuilt ones.
   */
  Instant now() {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
    newest = now.isBefore(newest) ? newest : now;
    return newest;
  }

  /** Applies a fact, from the same text that the journal gets. */
  void record(Fact fact) {
    if (readOnly) {
      throw new ReadOnlyException();
    }
    Encoded encoded = FactCodec.encode(fact);
    ByteBuffer bytesOfFact =
        new JournalRecord(head.sequence() + 1, settled, head.hash(), encoded).toBytes();
    try {
      head = apply(handle, head, encoded);
    } catch (FactCodec.UnknownFactException impossible) {
      throw new IllegalStateException("written just now", impossible);
    }
    bytes += bytesOfFact.remaining();
    records.add(bytesOfFact);
  }

  /**
   * One fact to rows, live and when the journal is read.
   *
   * @return the link of the chain that it is
   */
  static Chain apply(Handle handle, Chain before, Encoded encoded)
      throws FactCodec.UnknownFactException {
    Fact fact = FactCodec.decode(encoded);
    Chain link = before.next(encoded.head());
    Map<String, @Nullable Object> values = FactCodec.values(fact);
    FactApplier.event(handle, link, FactCodec.type(fact), encoded.head(), values);
    FactApplier.rows(handle, fact, values);
    return link;
  }

  /** A place to come back to. */
  record Mark(int facts, Chain head, long bytes) {}

  Mark mark() {
    return new Mark(records.size(), head, bytes);
  }

  /** Forgets the facts since; their rows are rolled back by whoever made the savepoint. */
  void backTo(Mark mark) {
    records.subList(mark.facts, records.size()).clear();
    head = mark.head;
    bytes = mark.bytes;
  }

  boolean isEmpty() {
    return records.isEmpty();
  }

  List<ByteBuffer> records() {
    return records;
  }

  Chain head() {
    return head;
  }

  Instant newest() {
    return newest;
  }

  long bytes() {
    return bytes;
  }
}
