package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the segments of the journal in order, and tells a torn tail from damage.
 *
 * <p>Records of a segment whose numbers are not below the first of the next segment are superseded:
 * they were written in a batch that failed, after which the writer turned away from that segment.
 * They, and any rubble behind the last good record, are not looked at.
 */
final class JournalReader {

  private static final System.Logger LOG = System.getLogger(JournalReader.class.getName());

  private final JournalFiles files;
  private final Path directory;

  /**
   * @param directory for the words of refusals
   */
  JournalReader(JournalFiles files, Path directory) {
    this.files = files;
    this.directory = directory;
  }

  /**
   * A segment file.
   *
   * @param header empty if it cannot be read, which matters only if its facts are needed
   */
  record Segment(String name, Optional<SegmentHeader> header) {

    /** As its name says. */
    long firstSequence() {
      return SegmentHeader.firstSequence(name);
    }
  }

  /** What may be wrong with the newest records. */
  enum Tail {
    /** Everything that was acknowledged is there. */
    SAFE,
    /** The machine went down in {@link LedgerConfig.Sync#PROCESS}: any of them may be lost. */
    LOSSY
  }

  /** Takes the records one by one. */
  interface Sink {
    void accept(JournalRecord fact) throws IOException, LedgerRefusedException;

    /** Facts that were trimmed. */
    default void gap(JournalRecord gap) throws IOException {}
  }

  /** All segments, oldest first. Refuses what a newer version wrote, before anything is touched. */
  List<Segment> segments() throws IOException, LedgerRefusedException {
    List<String> all = listed();
    // Until the plain form is deleted both are there, with the same facts.
    List<String> names =
        all.stream()
            .filter(SegmentHeader::isSegment)
            .filter(
                name ->
                    SegmentHeader.isCompressed(name)
                        || !all.contains(SegmentHeader.otherName(name)))
            .sorted()
            .toList();
    List<Segment> segments = new ArrayList<>();
    for (String name : names) {
      boolean last = name.equals(names.getLast());
      Optional<SegmentHeader> header = header(name);
      if (header.isEmpty() && last && isUnfinished(name)) {
        LOG.log(System.Logger.Level.WARNING, "{0} was never finished; it is left out", name);
        continue;
      }
      if (header.isEmpty() && last) {
        throw damaged(name, 0, "has no valid header");
      }
      refuseNewer(name, header);
      segments.add(new Segment(name, header));
    }
    return segments;
  }

  /** What a server compresses meanwhile can be missing under both names in a single look. */
  private List<String> listed() throws IOException {
    List<String> before = files.list();
    while (true) {
      List<String> now = files.list();
      if (Set.copyOf(now).equals(Set.copyOf(before))) {
        return now;
      }
      before = now;
    }
  }

  private void refuseNewer(String name, Optional<SegmentHeader> header)
      throws LedgerRefusedException {
    if (header.isPresent()
        && (header.get().format() > SegmentHeader.FORMAT
            || header.get().schema() > Schema.VERSION)) {
      throw Schema.newer(
          directory,
          "journal format "
              + header.get().format()
              + ", schema "
              + header.get().schema()
              + " in "
              + name);
    }
  }

  /**
   * Hands out the facts that {@code applied} does not have, in order. Segments that are older are
   * not read.
   *
   * @param through the last fact that counts
   * @return where the journal ends
   */
  Chain replay(Chain applied, long through, Sink sink) throws IOException, LedgerRefusedException {
    return replay(applied, through, Tail.SAFE, sink);
  }

  Chain replay(Chain applied, long through, Tail tail, Sink sink)
      throws IOException, LedgerRefusedException {
    List<Segment> segments = needed(segments(), applied);
    if (segments.isEmpty()) {
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          directory
              + " has no journal, but a database with "
              + applied.sequence()
              + " facts. Its newest facts may be missing: put the journal-*.log files back that"
              + " belong to it, or restore both from one backup.",
          null);
    }
    Chain first = headerOf(segments.getFirst()).before();
    if (applied.sequence() < first.sequence()) {
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          "the database in "
              + directory
              + " ends at fact "
              + applied.sequence()
              + ", but its journal begins after fact "
              + first.sequence()
              + ": the database was emptied, cut or replaced by an older one. Put the right"
              + " ledger.mv.db back, or restore database and journal from one backup.",
          null);
    }
    Chain end = first;
    for (int i = 0; i < segments.size(); i++) {
      @Nullable Segment next = i + 1 < segments.size() ? segments.get(i + 1) : null;
      long limit = next == null ? through : next.firstSequence() - 1;
      sameHistory(applied, end);
      end = read(segments.get(i), end, limit, next == null ? tail : null, checked(applied, sink));
      if (next != null) {
        refuseUnlessFollowed(segments.get(i), end, next);
      }
    }
    if (applied.sequence() > end.sequence()) {
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          "the database in "
              + directory
              + " has fact "
              + applied.sequence()
              + ", but its journal ends at fact "
              + end.sequence()
              + ": the end of the journal is lost or belongs to another ledger. Restore database"
              + " and journal from one backup.",
          null);
    }
    return end;
  }

  /**
   * Hands out the facts of one segment that another one follows.
   *
   * @param next the one that follows
   */
  void replay(Segment segment, Segment next, Sink sink) throws IOException, LedgerRefusedException {
    Chain start = headerOf(segment).before();
    Chain end = read(segment, start, next.firstSequence() - 1, null, sink);
    refuseUnlessFollowed(segment, end, next);
  }

  private void refuseUnlessFollowed(Segment segment, Chain end, Segment next)
      throws LedgerRefusedException {
    if (!headerOf(next).before().equals(end)) {
      throw damaged(next.name, 0, "does not continue " + segment.name);
    }
  }

  /** From the segment on that has the fact after {@code applied}, or all. */
  private static List<Segment> needed(List<Segment> segments, Chain applied) {
    int from = 0;
    for (int i = 1; i < segments.size(); i++) {
      if (segments.get(i).firstSequence() - 1 <= applied.sequence()) {
        from = i;
      }
    }
    return segments.subList(from, segments.size());
  }

  private SegmentHeader headerOf(Segment segment) throws LedgerRefusedException {
    if (segment.header.isEmpty()) {
      throw damaged(segment.name, 0, "has no valid header");
    }
    return segment.header.get();
  }

  private Sink checked(Chain applied, Sink sink) {
    return new Sink() {
      @Override
      public void accept(JournalRecord fact) throws IOException, LedgerRefusedException {
        sameHistory(applied, fact.after());
        if (fact.sequence() > applied.sequence()) {
          sink.accept(fact);
        }
      }

      @Override
      public void gap(JournalRecord gap) throws IOException {
        if (gap.sequence() > applied.sequence()) {
          sink.gap(gap);
        }
      }
    };
  }

  private void sameHistory(Chain applied, Chain journal) throws LedgerRefusedException {
    if (applied.sequence() == journal.sequence() && !applied.equals(journal)) {
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          "database and journal in "
              + directory
              + " are not of one history: they differ at fact "
              + applied.sequence()
              + ". Restore both from one backup.",
          null);
    }
  }

  /** Whichever form is there: a server that goes on may have compressed it meanwhile. */
  private JournalFiles.Input opened(String name) throws IOException {
    try {
      return openedAs(name);
    } catch (NoSuchFileException meanwhile) {
      return openedAs(SegmentHeader.otherName(name));
    }
  }

  private JournalFiles.Input openedAs(String name) throws IOException {
    JournalFiles.Input input = files.open(name);
    return SegmentHeader.isCompressed(name) ? new InflatedInput(input) : input;
  }

  private Optional<SegmentHeader> header(String name) throws IOException, LedgerRefusedException {
    try (JournalFiles.Input input = opened(name)) {
      ByteBuffer bytes = ByteBuffer.allocate(SegmentHeader.BYTES);
      input.read(0, bytes);
      Optional<SegmentHeader> header = SegmentHeader.of(bytes.flip());
      if (header.isPresent() && header.get().firstSequence() != SegmentHeader.firstSequence(name)) {
        throw damaged(name, 0, "has the header of " + header.get().fileName());
      }
      return header;
    } catch (IOException unreadable) {
      throw new LedgerRefusedException(
          Reason.NOT_WRITABLE,
          directory.resolve(name)
              + " cannot be read: "
              + StateDirectory.reason(unreadable)
              + ". It is a part of the journal: give this user access to it, or put the file back.",
          unreadable);
    }
  }

  private boolean isUnfinished(String name) throws IOException {
    try (JournalFiles.Input input = files.open(name)) {
      return input.size() <= SegmentHeader.BYTES;
    }
  }

  /**
   * @param tail what may be wrong with its end; null if another segment follows
   */
  private Chain read(Segment segment, Chain start, long limit, @Nullable Tail tail, Sink sink)
      throws IOException, LedgerRefusedException {
    Chain end = start;
    long position = SegmentHeader.BYTES;
    try (JournalFiles.Input input = opened(segment.name)) {
      long size = input.size();
      while (end.sequence() < limit) {
        RecordsAt.Found found = RecordsAt.at(input, position, size);
        if (found == null) {
          boolean atEnd = tail != null && position == size;
          boolean safe =
              !atEnd
                  && (SegmentHeader.isCompressed(segment.name)
                      || (tail == Tail.SAFE
                          && RecordsAt.wasSafe(input, position, size, end.sequence() + 1)));
          if (tail == null || safe) {
            throw damaged(
                segment.name, position, "fact " + (end.sequence() + 1) + " cannot be read");
          }
          if (position < size) {
            LOG.log(
                System.Logger.Level.WARNING,
                "{0}: {1} bytes from byte {2} on were never finished; they are left out",
                segment.name,
                size - position,
                position);
          }
          return end;
        }
        JournalRecord fact = found.record();
        if (!fact.follows(end)) {
          throw damaged(
              segment.name, position, "does not continue the chain at fact " + end.sequence());
        }
        if (fact.isGap()) {
          sink.gap(fact);
        } else {
          sink.accept(fact);
        }
        position = found.end();
        end = fact.after();
      }
    }
    return end;
  }

  private LedgerRefusedException damaged(String name, long offset, String what) {
    return new LedgerRefusedException(
        Reason.DAMAGED,
        directory.resolve(name)
            + " at byte "
            + offset
            + ": "
            + what
            + ". The journal is damaged in a place that was safe before; restore it and the"
            + " database from one backup.",
        null);
  }
}
