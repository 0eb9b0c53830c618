package dev.blackbox.ledger;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * One fact in the journal. All numbers are big-endian:
 *
 * <pre>
 * int   length of all that follows the checksum
 * int   CRC32C of all that follows
 * long  sequence
 * long  settled: every record up to this one was safe before this one was written
 * 32    hash of the fact before
 * int   length of the head, then the head (UTF-8)
 * int   number of bodies, then for each its length (int) and its bytes (UTF-8)
 * </pre>
 *
 * <p>A record without a head whose {@code settled} is below 0 is a <em>gap</em>: it stands for
 * facts that were trimmed. Its sequence is that of the last of them, its hash the one after that,
 * and {@code settled} is the first of them, negated.
 *
 * <p>{@code settled} tells a torn tail from damage. Records of one batch reach the disk in any
 * order when the power goes, so a good record behind a bad one proves nothing by itself; it proves
 * damage if it says that the bad one was safe before.
 */
record JournalRecord(long sequence, long settled, String hashBefore, FactCodec.Encoded fact) {

  /** Bytes before the checked part: length and checksum. */
  static final int PREFIX_BYTES = 2 * Integer.BYTES;

  /** Bytes of the checked part that every record has. */
  static final int FIXED_BYTES = 2 * Long.BYTES + Chain.HASH_BYTES + 2 * Integer.BYTES;

  /**
   * In the place of facts that were trimmed, where {@code settled} has the first of them, negated,
   * and the hash is that of the last.
   */
  static JournalRecord gap(long first, Chain last) {
    return new JournalRecord(
        last.sequence(), -first, last.hash(), new FactCodec.Encoded("", List.of()));
  }

  boolean isGap() {
    return settled < 0;
  }

  /** The first fact that a gap stands for; it ends with {@link #sequence}. */
  long gapFirst() {
    return -settled;
  }

  /** Whether this is the next record after that place. */
  boolean follows(Chain end) {
    return isGap() ? gapFirst() == end.sequence() + 1 : before().equals(end);
  }

  Chain before() {
    return new Chain(sequence - 1, hashBefore);
  }

  Chain after() {
    return isGap() ? new Chain(sequence, hashBefore) : before().next(fact.head());
  }

  ByteBuffer toBytes() {
    byte[] head = fact.head().getBytes(StandardCharsets.UTF_8);
    List<byte[]> bodies = new ArrayList<>(fact.bodies().size());
    long length = FIXED_BYTES + (long) head.length;
    for (String body : fact.bodies()) {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      bodies.add(bytes);
      length += Integer.BYTES + (long) bytes.length;
    }
    ByteBuffer record = ByteBuffer.allocate(Math.toIntExact(PREFIX_BYTES + length));
    record.putInt((int) length).putInt(0).putLong(sequence).putLong(settled);
    record
        .put(new Chain(sequence, hashBefore).hashBytes())
        .putInt(head.length)
        .put(head)
        .putInt(bodies.size());
    for (byte[] body : bodies) {
      record.putInt(body.length).put(body);
    }
    record.flip();
    record.putInt(Integer.BYTES, checksum(record.slice(PREFIX_BYTES, (int) length)));
    return record;
  }

  /**
   * Reads the checked part.
   *
   * @throws java.nio.BufferUnderflowException if its inner lengths make no sense
   */
  static JournalRecord ofChecked(ByteBuffer checked) {
    long sequence = checked.getLong();
    long settled = checked.getLong();
    byte[] hash = new byte[Chain.HASH_BYTES];
    checked.get(hash);
    String head = text(checked);
    int count = checked.getInt();
    List<String> bodies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      bodies.add(text(checked));
    }
    return new JournalRecord(
        sequence,
        settled,
        Chain.at(sequence - 1, hash).hash(),
        new FactCodec.Encoded(head, List.copyOf(bodies)));
  }

  static int checksum(ByteBuffer checked) {
    CRC32C crc = new CRC32C();
    crc.update(checked.duplicate());
    return (int) crc.getValue();
  }

  private static String text(ByteBuffer from) {
    int length = from.getInt();
    if (length < 0 || length > from.remaining()) {
      throw new java.nio.BufferUnderflowException();
    }
    String text =
        new String(
            from.array(), from.arrayOffset() + from.position(), length, StandardCharsets.UTF_8);
    from.position(from.position() + length);
    return text;
  }
}
