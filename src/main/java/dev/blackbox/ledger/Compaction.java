package dev.blackbox.ledger;

import dev.blackbox.ledger.JournalReader.Segment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Writes segments that nobody appends to any more again, compressed. Every record is checked on the
 * way, and read back before the old form goes; a crash leaves one form or both, with the same
 * facts. No failure of it concerns anybody but the disk's size.
 */
final class Compaction {

  /** A segment that is being compressed; of no use after a crash. */
  static final String UNFINISHED = "journal-compressed.tmp.gz";

  private final JournalFiles files;
  private final JournalReader reader;

  /**
   * @param directory for the words of refusals
   */
  Compaction(JournalFiles files, Path directory) {
    this.files = files;
    this.reader = new JournalReader(files, directory);
  }

  /** It was to stop in the middle. */
  private static final class StoppedException extends IOException {}

  /**
   * Compresses the oldest segment that is not, and has another one behind it.
   *
   * @param stopping asked now and then; true ends it without a result
   * @return whether there was one
   */
  boolean compressNext(BooleanSupplier stopping) throws IOException, LedgerRefusedException {
    Set<String> plain = new HashSet<>(files.list());
    List<Segment> segments = reader.segments();
    for (int i = 0; i + 1 < segments.size(); i++) {
      Segment segment = segments.get(i);
      // One that has both forms was renamed, but perhaps that is not durable: so once more.
      boolean done =
          SegmentHeader.isCompressed(segment.name())
              && !plain.contains(SegmentHeader.otherName(segment.name()));
      if (!done && segment.header().isPresent()) {
        return compress(segment, segments.get(i + 1), stopping);
      }
    }
    return false;
  }

  private boolean compress(Segment segment, Segment next, BooleanSupplier stopping)
      throws IOException, LedgerRefusedException {
    String plain =
        SegmentHeader.isCompressed(segment.name())
            ? SegmentHeader.otherName(segment.name())
            : segment.name();
    String compressed = SegmentHeader.otherName(plain);
    Segment from = new Segment(plain, segment.header());
    try {
      write(from, next, stopping);
    } catch (StoppedException _) {
      return false;
    }
    files.rename(UNFINISHED, compressed);
    files.forceDirectory();
    files.delete(plain);
    return true;
  }

  private void write(Segment from, Segment next, BooleanSupplier stopping)
      throws IOException, LedgerRefusedException {
    // A new file: one that is left may have met a failed force, and no later one makes that good.
    files.delete(UNFINISHED);
    List<Long> written = new ArrayList<>();
    try (DeflatedOutput output = new DeflatedOutput(files.create(UNFINISHED))) {
      output.append(from.header().orElseThrow().toBytes());
      reader.replay(
          from,
          next,
          record -> {
            if (stopping.getAsBoolean()) {
              throw new StoppedException();
            }
            output.append(record.toBytes());
            written.add(record.sequence());
          });
      output.finish();
    }
    List<Long> readBack = new ArrayList<>();
    reader.replay(
        new Segment(UNFINISHED, from.header()), next, record -> readBack.add(record.sequence()));
    if (!readBack.equals(written)) {
      throw new IOException(from.name() + " does not read back as it was, once compressed");
    }
  }
}
