package dev.blackbox.ledger;

import dev.blackbox.ledger.JournalReader.Segment;
import dev.blackbox.ledger.TrimmedContent.Gap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes segments that nobody appends to any more again, compressed, and without facts that were
 * trimmed. Every record is checked on the way, and read back before the old form goes; a crash
 * leaves one form or both. No failure of it concerns anybody but the disk's size.
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
    Set<String> names = new HashSet<>(files.list());
    List<Segment> segments = reader.segments();
    for (int i = 0; i + 1 < segments.size(); i++) {
      Segment segment = segments.get(i);
      // One that has both forms was renamed, but perhaps that is not durable: so once more.
      boolean done =
          SegmentHeader.isCompressed(segment.name())
              && !names.contains(SegmentHeader.otherName(segment.name()));
      if (!done && segment.header().isPresent()) {
        return rewrite(plain(segment), segments.get(i + 1), List.of(), stopping);
      }
    }
    return false;
  }

  private static Segment plain(Segment segment) {
    return SegmentHeader.isCompressed(segment.name())
        ? new Segment(SegmentHeader.otherName(segment.name()), segment.header())
        : segment;
  }

  /** The first fact of the newest segment: of the ones before it any can be erased. */
  long firstOfNewest() throws IOException, LedgerRefusedException {
    List<Segment> segments = reader.segments();
    return segments.isEmpty() ? 1 : segments.getLast().firstSequence();
  }

  /**
   * Takes facts out of the journal. Again, if it was cut short: it does not matter how much is gone
   * already.
   *
   * @param gaps all before {@link #firstOfNewest}, and recorded as trimmed
   * @return false if it was stopped first
   */
  boolean erase(List<Gap> gaps, BooleanSupplier stopping)
      throws IOException, LedgerRefusedException {
    List<Segment> segments = reader.segments();
    for (int i = 0; i + 1 < segments.size(); i++) {
      Segment segment = segments.get(i);
      long last = segments.get(i + 1).firstSequence() - 1;
      List<Gap> here =
          gaps.stream()
              .filter(
                  gap -> gap.first() <= last && gap.last().sequence() >= segment.firstSequence())
              .toList();
      if (!here.isEmpty() && !rewrite(segment, segments.get(i + 1), here, stopping)) {
        return false;
      }
    }
    return true;
  }

  private boolean rewrite(Segment from, Segment next, List<Gap> gaps, BooleanSupplier stopping)
      throws IOException, LedgerRefusedException {
    try {
      write(from, next, gaps, stopping);
    } catch (StoppedException _) {
      return false;
    }
    String plain = plain(from).name();
    files.rename(UNFINISHED, SegmentHeader.otherName(plain));
    files.forceDirectory();
    files.delete(plain);
    return true;
  }

  private void write(Segment from, Segment next, List<Gap> gaps, BooleanSupplier stopping)
      throws IOException, LedgerRefusedException {
    // A new file: one that is left may have met a failed force, and no later one makes that good.
    files.delete(UNFINISHED);
    Numbers written = new Numbers();
    try (DeflatedOutput output = new DeflatedOutput(files.create(UNFINISHED))) {
      output.append(from.header().orElseThrow().toBytes());
      Without kept = new Without(gaps, written, output, stopping);
      reader.replay(from, next, kept);
      kept.endGap();
      output.finish();
    }
    Numbers readBack = new Numbers();
    reader.replay(new Segment(UNFINISHED, from.header()), next, readBack);
    if (!readBack.all.equals(written.all)) {
      throw new IOException(from.name() + " does not read back as it was, once compressed");
    }
  }

  /** Which facts there are, and which gaps. */
  private static final class Numbers implements JournalReader.Sink {
    final List<Long> all = new ArrayList<>();

    @Override
    public void accept(JournalRecord fact) {
      all.add(fact.sequence());
    }

    @Override
    public void gap(JournalRecord gap) {
      all.add(-gap.gapFirst());
      all.add(gap.sequence());
    }
  }

  /** Everything but what lies in some gaps; gaps that touch become one. */
  private static final class Without implements JournalReader.Sink {
    private final List<Gap> gaps;
    private final Numbers written;
    private final DeflatedOutput output;
    private final BooleanSupplier stopping;
    private @Nullable Gap open;

    Without(List<Gap> gaps, Numbers written, DeflatedOutput output, BooleanSupplier stopping) {
      this.gaps = gaps;
      this.written = written;
      this.output = output;
      this.stopping = stopping;
    }

    @Override
    public void accept(JournalRecord fact) throws IOException {
      if (stopping.getAsBoolean()) {
        throw new StoppedException();
      }
      if (gaps.stream().anyMatch(gap -> gap.holds(fact.sequence()))) {
        gap(JournalRecord.gap(fact.sequence(), fact.after()));
        return;
      }
      endGap();
      output.append(fact.toBytes());
      written.accept(fact);
    }

    @Override
    public void gap(JournalRecord gap) {
      Gap before = open;
      open = new Gap(before == null ? gap.gapFirst() : before.first(), gap.after());
    }

    void endGap() throws IOException {
      Gap gap = open;
      if (gap != null) {
        JournalRecord record = JournalRecord.gap(gap.first(), gap.last());
        output.append(record.toBytes());
        written.gap(record);
        open = null;
      }
    }
  }
}
