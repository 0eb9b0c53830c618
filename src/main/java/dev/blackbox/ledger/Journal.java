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
  private boolean forceFailed;

  Journal(JournalFiles files, Sync sync) {
    this.files = files;
    this.sync = sync;
  }

  /**
   * Turns to a new segment, and only then away from the one before. Written under another name
   * first, so that a segment has a good header or is not there. Forced in every mode: it happens
   * rarely, and without it a power cut could take away older facts than the newest.
   *
   * <p>If it fails once the new name may be there, no segment is open afterwards: what was added to
   * the old one from then on would count as superseded by the new one.
   */
  void begin(Chain before) throws IOException {
    SegmentHeader header = SegmentHeader.after(before);
    forceCurrent();
    // A new file: one that is left may have met a failed force, and no later one makes that good.
    files.delete(UNFINISHED);
    JournalFiles.Output next = files.create(UNFINISHED);
    boolean begun = false;
    try {
      next.append(header.toBytes());
      next.force();
      close();
      files.rename(UNFINISHED, header.fileName());
      files.forceDirectory();
      begun = true;
    } finally {
      if (!begun) {
        closeQuietly(next);
      }
    }
    output = next;
    safeBytes = SegmentHeader.BYTES;
    forceFailed = false;
  }

  /** What was only written so far: a database may have to be made from it again. */
  private void forceCurrent() throws IOException {
    JournalFiles.Output current = output;
    if (current == null || sync == Sync.POWER) {
      return;
    }
    try {
      current.force();
    } catch (IOException failure) {
      close();
      throw failure;
    }
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
      // A second force that succeeds would say nothing about what the failed one had to write.
      forceFailed = true;
      current.force();
      forceFailed = false;
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
      if (forceFailed) {
        return false;
      }
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
