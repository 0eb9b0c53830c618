package dev.blackbox.ledger;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.FactCodec.Encoded;
import dev.blackbox.turn.TurnKey;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private final Set<Object> touched = new HashSet<>();
  private Chain head;
  private Instant newest;
  private long bytes;
  private boolean readOnly;
  private boolean trims;

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

  /** Applies a fact, and keeps the text that the journal gets. */
  void record(Fact fact) {
    if (readOnly) {
      throw new ReadOnlyException();
    }
    FactCodec.Written written = FactCodec.write(fact);
    ByteBuffer bytesOfFact =
        new JournalRecord(head.sequence() + 1, settled, head.hash(), written.encoded()).toBytes();
    head = apply(handle, head, fact, written.type(), written.encoded(), written.values());
    bytes += bytesOfFact.remaining();
    records.add(bytesOfFact);
    touch(written.values());
    trims |= fact instanceof Fact.SessionTrimmed;
  }

  private void touch(Map<String, @Nullable Object> values) {
    if (values.get("session_key") instanceof Long sessionKey) {
      touched.add(sessionKey);
      if (values.get("turn_id") instanceof String turnId) {
        touched.add(new TurnKey(sessionKey, new TurnId(turnId)));
      }
    }
  }

  /** Keys of the sessions, and of the turns, that the facts are about; perhaps of more. */
  Set<Object> touched() {
    return touched;
  }

  /** Whether it takes away rows that {@link #touched} does not name. */
  boolean trims() {
    return trims;
  }

  /**
   * One fact of the journal to rows.
   *
   * @return the link of the chain that it is
   */
  static Chain apply(Handle handle, Chain before, Encoded encoded)
      throws FactCodec.UnknownFactException {
    Fact fact = FactCodec.decode(encoded);
    return apply(handle, before, fact, FactCodec.type(fact), encoded, FactCodec.values(fact));
  }

  /** The same live and when the journal is read: what the values are is all that decides. */
  private static Chain apply(
      Handle handle,
      Chain before,
      Fact fact,
      String type,
      Encoded encoded,
      Map<String, @Nullable Object> values) {
    Chain link = before.next(encoded.head());
    FactApplier.event(handle, link, type, encoded.head(), values);
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
