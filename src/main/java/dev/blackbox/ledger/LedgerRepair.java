package dev.blackbox.ledger;

import dev.blackbox.ledger.DatabaseMark.Left;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Puts a ledger right whose directory is held: see {@link LedgerFiles#repair}. */
final class LedgerRepair {

  /** A new journal, until it is whole. */
  private static final String REMADE = "journal-remade";

  /** Where segments go that a new journal replaces; a number is added. */
  private static final String REPLACED = "journal-damaged-";

  /** Why nobody may open it, while the segments of two journals are in the directory. */
  static final String REPLACING = "its journal is being replaced";

  private final StateDirectory directory;
  private final Path path;
  private final JournalFiles files;
  private final JournalReader reader;
  private final DatabaseMark mark;
  private final List<String> done = new ArrayList<>();

  LedgerRepair(StateDirectory directory) {
    this.directory = directory;
    this.path = directory.path();
    this.files = JournalFiles.in(path);
    this.reader = new JournalReader(files, path);
    this.mark = new DatabaseMark(files);
  }

  List<String> run() throws IOException, LedgerRefusedException {
    Left left = mark.read();
    if (left instanceof Left.Untrusted(_, String reason)
        && reason.equals(REPLACING)
        && Files.isDirectory(path.resolve(REMADE))) {
      // A repair was ended in the middle of it. What it wrote is whole, and may be all there is.
      Path replaced = replaceJournal();
      done.add(
          "the repair before was interrupted; its journal is in place now, the old segments are in "
              + replaced.getFileName()
              + " and those before it");
    }
    Chain end;
    try {
      end = wholeJournal(left);
    } catch (LedgerRefusedException damaged) {
      if (damaged.reason() != LedgerRefusedException.Reason.DAMAGED) {
        throw damaged;
      }
      end = remakeJournal(left, damaged);
    }
    mark.write(new Left.Untrusted(end.sequence(), "its operator asked for a repair"));
    done.add(LedgerFiles.checkedDatabase(directory, files, end));
    done.add("the ledger is whole up to fact " + end.sequence() + ", hash " + end.hash());
    return List.copyOf(done);
  }

  /** The journal's end, if nothing is wrong with it. */
  private Chain wholeJournal(Left left) throws IOException, LedgerRefusedException {
    List<JournalReader.Segment> segments = reader.segments();
    if (segments.isEmpty() || segments.getFirst().firstSequence() != 1) {
      throw LedgerFiles.refused("the journal in " + path + " does not begin with fact 1");
    }
    Chain end = reader.replay(Chain.START, Long.MAX_VALUE, _ -> {});
    if (end.sequence() < left.safeSequence()) {
      throw new Refusals(directory)
          .lostEnd(end.sequence(), DatabaseMark.FILE_NAME, left.safeSequence());
    }
    return end;
  }

  /** A new journal from the rows, if they are whole, in the place of the damaged one. */
  private Chain remakeJournal(Left left, LedgerRefusedException damaged)
      throws IOException, LedgerRefusedException {
    if (!Files.isRegularFile(directory.databaseFile())) {
      throw neither(damaged, "there is no database from which it could be made again");
    }
    Path remade = path.resolve(REMADE);
    deleteAll(remade);
    Files.createDirectory(remade);
    Chain end;
    try {
      end = writeFromRows(left, damaged, JournalFiles.in(remade));
    } catch (LedgerRefusedException | IOException | RuntimeException failure) {
      deleteAll(remade);
      throw failure;
    }
    // From here on it is refused until all of the new journal is there; then repaired again.
    mark.write(new Left.Untrusted(end.sequence(), REPLACING));
    Path replaced = replaceJournal();
    done.add(
        "the journal could not be used, because "
            + damaged.getMessage()
            + " It was made again from "
            + end.sequence()
            + " events of the database; the old segments are kept in "
            + replaced.getFileName());
    return end;
  }

  /**
   * Moves the old segments away and then the new ones in, the first one first: while that one is
   * not in its place, all that is there is old. Can be ended at any moment and done again.
   *
   * @return where the old ones are
   */
  private Path replaceJournal() throws IOException {
    Path remade = path.resolve(REMADE);
    JournalFiles remadeFiles = JournalFiles.in(remade);
    Path replaced = freshName();
    Files.createDirectory(replaced);
    List<String> segments = segmentsIn(remadeFiles);
    if (!segments.isEmpty() && SegmentHeader.firstSequence(segments.getFirst()) == 1) {
      for (String segment : segmentsIn(files)) {
        Files.move(path.resolve(segment), replaced.resolve(segment));
      }
      JournalFiles.in(replaced).forceDirectory();
      files.forceDirectory();
    }
    for (String segment : segments) {
      Files.move(remade.resolve(segment), path.resolve(segment));
      files.forceDirectory();
      remadeFiles.forceDirectory();
    }
    deleteAll(remade);
    return replaced;
  }

  private Chain writeFromRows(Left left, LedgerRefusedException damaged, JournalFiles into)
      throws IOException, LedgerRefusedException {
    try (OpenRows rows = OpenRows.of(path, files)) {
      Schema.refuseNewer(rows.database().connection(), path);
      Chain applied = rows.database().applied();
      LedgerFacts.ChainReport report = new Verification().run(rows.database()::read, applied);
      if (!report.problems().isEmpty()) {
        throw neither(
            damaged, "the database is not whole either (" + report.problems().getFirst() + ")");
      }
      if (applied.sequence() < left.safeSequence()) {
        throw neither(
            damaged,
            "the database ends at fact "
                + applied.sequence()
                + ", but fact "
                + left.safeSequence()
                + " was safe");
      }
      try (JournalCopy copy = new JournalCopy(into)) {
        new FactsOfRows(rows.database()).forEach(copy);
        // Closed in order it had everything; else the journal may have more, and must be readable.
        if (!(left instanceof Left.Closed closed && closed.sequence() == applied.sequence())) {
          theRest(applied, damaged, copy);
        }
        return copy.end();
      }
    } catch (SQLException | IllegalStateException unreadable) {
      throw neither(
          damaged, "the database cannot be read either: " + Storage.rootMessage(unreadable));
    }
  }

  private void theRest(Chain applied, LedgerRefusedException damaged, JournalCopy copy)
      throws IOException, LedgerRefusedException {
    try {
      reader.replay(applied, Long.MAX_VALUE, copy);
    } catch (LedgerRefusedException unreadable) {
      throw neither(
          damaged,
          "what it has after fact "
              + applied.sequence()
              + ", the last one of the database, cannot be read: "
              + unreadable.getMessage());
    }
  }

  private LedgerRefusedException neither(LedgerRefusedException damaged, String why) {
    return new LedgerRefusedException(
        LedgerRefusedException.Reason.DAMAGED,
        damaged.getMessage()
            + " It cannot be repaired, because "
            + why
            + ". Nothing was changed. Restore a backup.",
        damaged);
  }

  private static List<String> segmentsIn(JournalFiles files) throws IOException {
    return files.list().stream().filter(SegmentHeader::isSegment).sorted().toList();
  }

  private Path freshName() {
    int number = 1;
    while (Files.exists(path.resolve(REPLACED + number))) {
      number++;
    }
    return path.resolve(REPLACED + number);
  }

  private static void deleteAll(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    for (String name : JournalFiles.in(folder).list()) {
      Files.delete(folder.resolve(name));
    }
    Files.delete(folder);
  }
}
