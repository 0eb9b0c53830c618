package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The end of the journal that is written: one segment, until {@link #begin} turns to the next. Used
 * by the writer's thread only.
 */
final class Journal {

  private static final System.Logger LOG = System.getLogger(Journal.class.getName());

  private static final String UNFINISHED = "journal-next.tmp";

  private final JournalFiles files;
  private final Sync sync;

  private JournalFiles.@Nullable Output output;
  private long safeBytes;

  Journal(JournalFiles files, Sync sync) {
    this.files = files;
    this.sync = sync;
  }

  /**
   * Turns to a new segment, and only then away from the one before. Written under another name
   * first, so that a segment has a good header or is not there. Forced in every mode: it happens
   * rarely, and without it a power cut could take away older facts than the newest.
   */
  void begin(Chain before) throws IOException {
    SegmentHeader header = SegmentHeader.after(before);
    JournalFiles.Output next = files.create(UNFINISHED);
    try {
      next.append(header.toBytes());
      next.force();
      files.rename(UNFINISHED, header.fileName());
      files.forceDirectory();
    } catch (IOException failure) {
      closeQuietly(next);
      throw failure;
    }
    close();
    output = next;
    safeBytes = SegmentHeader.BYTES;
  }

  /** Writes a batch at the end, and makes it as safe as {@link Sync} says. */
  void append(List<ByteBuffer> records) throws IOException {
    JournalFiles.Output current = output;
    if (current == null) {
      throw new IOException("no segment is open");
    }
    long bytes = 0;
    for (ByteBuffer each : records) {
      bytes += each.remaining();
      current.append(each);
    }
    if (sync == Sync.POWER) {
      current.force();
    }
    safeBytes += bytes;
  }

  /**
   * After a failed {@link #append}: cuts off what it wrote, and never uses this segment again, as
   * nobody can know what the disk has of it after a failed force.
   *
   * @return whether what it wrote is surely gone
   */
  boolean retract() {
    JournalFiles.Output current = output;
    output = null;
    if (current == null) {
      return true;
    }
    try {
      current.truncate(safeBytes);
      if (sync == Sync.POWER) {
        current.force();
      }
      return true;
    } catch (IOException stillThere) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the end of the journal could not be cut off; the next segment supersedes it: {0}",
          stillThere.getMessage());
      return false;
    } finally {
      closeQuietly(current);
    }
  }

  boolean isOpen() {
    return output != null;
  }

  /** Bytes of facts in the current segment. */
  long factBytes() {
    return safeBytes - SegmentHeader.BYTES;
  }

  /**
   * Deletes the segments before the one that begins after {@code before}. What cannot be deleted
   * now is deleted next time.
   */
  void deleteOlder(Chain before) {
    try {
      for (String name : files.list()) {
        if (SegmentHeader.isSegment(name)
            && SegmentHeader.firstSequence(name) <= before.sequence()) {
          files.delete(name);
        }
      }
    } catch (IOException later) {
      LOG.log(
          System.Logger.Level.WARNING,
          "old journal segments could not be deleted: {0}",
          later.getMessage());
    }
  }

  void close() {
    JournalFiles.Output current = output;
    output = null;
    if (current != null) {
      closeQuietly(current);
    }
  }

  private static void closeQuietly(JournalFiles.Output output) {
    try {
      output.close();
    } catch (IOException failure) {
      // Every byte that counts was written, and forced if it had to be, before.
      LOG.log(System.Logger.Level.WARNING, "closing a segment: {0}", failure.getMessage());
    }
  }
}
