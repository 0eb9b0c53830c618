package dev.blackbox.ledger;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Records of a segment by their place in its file. */
final class RecordsAt {

  /** How much of a torn tail is looked through at a time. */
  private static final int WINDOW_BYTES = 1 << 20;

  private RecordsAt() {}

  /**
   * A record.
   *
   * @param end where the next one begins
   */
  record Found(JournalRecord record, long end) {}

  /** Null if there is no whole record at this place. */
  static @Nullable Found at(JournalFiles.Input input, long position, long size) throws IOException {
    if (size - position < JournalRecord.PREFIX_BYTES) {
      return null;
    }
    ByteBuffer prefix = ByteBuffer.allocate(JournalRecord.PREFIX_BYTES);
    input.read(position, prefix);
    if (prefix.flip().remaining() < JournalRecord.PREFIX_BYTES) {
      return null;
    }
    int length = prefix.getInt();
    int checksum = prefix.getInt();
    if (length < JournalRecord.FIXED_BYTES
        || length > size - position - JournalRecord.PREFIX_BYTES) {
      return null;
    }
    ByteBuffer checked = ByteBuffer.allocate(length);
    input.read(position + JournalRecord.PREFIX_BYTES, checked);
    if (checked.flip().remaining() != length || JournalRecord.checksum(checked) != checksum) {
      return null;
    }
    try {
      return new Found(
          JournalRecord.ofChecked(checked), position + JournalRecord.PREFIX_BYTES + length);
    } catch (BufferUnderflowException nonsense) {
      return null;
    }
  }

  /** Whether a good record behind {@code from} says that this fact was safe before. */
  static boolean wasSafe(JournalFiles.Input input, long from, long size, long sequence)
      throws IOException {
    int headBytes = JournalRecord.PREFIX_BYTES + 2 * Long.BYTES;
    for (long start = from + 1; start + headBytes <= size; start += WINDOW_BYTES) {
      ByteBuffer window = ByteBuffer.allocate(WINDOW_BYTES + headBytes);
      input.read(start, window);
      window.flip();
      for (int i = 0; i + headBytes <= window.remaining() && i < WINDOW_BYTES; i++) {
        // The cheap test first: almost no place in rubble looks like a record of later facts.
        long candidate = window.getLong(i + JournalRecord.PREFIX_BYTES);
        long settled = window.getLong(i + JournalRecord.PREFIX_BYTES + Long.BYTES);
        if (candidate > settled && settled >= sequence) {
          Found found = at(input, start + i, size);
          if (found != null && found.record.sequence() == candidate) {
            return true;
          }
        }
      }
    }
    return false;
  }
}
