package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What an operator does with the files of a ledger: copies them, and puts them right. The journal
 * is the truth and is only appended to, so a backup needs nobody's cooperation: it is the journal
 * up to a fact, read and checked record by record, and a database made from that copy. What could
 * be opened from a backup was opened once before the backup is called done.
 */
public final class LedgerFiles {

  /** Of this machine's boot as far as the mark is concerned; the next boot says its own. */
  private static final String NO_BOOT = "no-boot";

  private static final int ATTEMPTS_MAX = 5;

  private LedgerFiles() {}

  /**
   * A copy that is whole.
   *
   * @param facts how many; also the number of the newest one
   * @param lastHash the hash of the chain there
   * @param bytes of all its files
   */
  public record Copied(long facts, String lastHash, long bytes) {}

  /**
   * Copies the ledger in {@code from}, which a server may be writing, to {@code to}. Every fact
   * that was acknowledged before the call is in the copy; later ones may be. The same is a restore,
   * with the directories the other way round.
   *
   * <p>If it fails, {@code to} is left without a ledger; if it is killed, with one that no server
   * opens.
   *
   * @param to a directory without a ledger; made with mode 0700 if it is not there
   * @throws LedgerRefusedException if {@code from} has no whole ledger, or {@code to} has one
   */
  public static Copied copy(Path from, Path to) throws LedgerRefusedException {
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          return copied(from, to);
        } catch (TrimmedMeanwhileException again) {
          if (attempt == ATTEMPTS_MAX) {
            throw again;
          }
        }
      }
    } catch (IOException failure) {
      throw StateDirectory.notWritable(to, Storage.rootMessage(failure), failure);
    }
  }

  /** Facts are gone that the copy has no fact about. */
  private static final class TrimmedMeanwhileException extends IOException {
    TrimmedMeanwhileException() {
      super("sessions were trimmed while it was copied; try again");
    }
  }

  /** Passes facts on up to a number, and counts those that were trimmed. */
  private static final class Counting implements JournalReader.Sink {
    private final long through;
    private final JournalReader.Sink sink;
    long factsGone;

    Counting(long through, JournalReader.Sink sink) {
      this.through = through;
      this.sink = sink;
    }

    @Override
    public void accept(JournalRecord fact) throws IOException, LedgerRefusedException {
      if (fact.sequence() <= through) {
        sink.accept(fact);
      }
    }

    @Override
    public void gap(JournalRecord gap) throws IOException {
      factsGone += gap.sequence() - gap.gapFirst() + 1;
      sink.gap(gap);
    }
  }

  private static Copied copied(Path from, Path to) throws IOException, LedgerRefusedException {
    JournalReader source = journalOf(from);
    // Read twice: first what there is, so that a copy that was cut short can be told.
    Counting first = new Counting(Long.MAX_VALUE, _ -> {});
    Chain end = source.replay(Chain.START, Long.MAX_VALUE, first);
    try (StateDirectory target = emptyDirectory(to)) {
      JournalFiles files = JournalFiles.in(target.path());
      boolean whole = false;
      try {
        new DatabaseMark(files)
            .write(new DatabaseMark.Left.Untrusted(end.sequence(), "it was being copied"));
        try (JournalCopy copy = new JournalCopy(files)) {
          // A segment that was begun meanwhile may end later.
          Counting second = new Counting(end.sequence(), copy);
          source.replay(Chain.START, end.sequence(), second);
          if (second.factsGone != first.factsGone) {
            throw new TrimmedMeanwhileException();
          }
        }
        checkedDatabase(target, files, end);
        whole = true;
        return new Copied(end.sequence(), end.hash(), target.bytesOnDisk());
      } finally {
        if (!whole) {
          deleteLedger(target.path());
        }
      }
    }
  }

  private static JournalReader journalOf(Path from) throws IOException, LedgerRefusedException {
    if (!Files.isDirectory(from)) {
      throw refused(from + " is no directory of a ledger: it is not there.");
    }
    JournalReader reader = new JournalReader(JournalFiles.in(from), from);
    List<JournalReader.Segment> segments = reader.segments();
    if (segments.isEmpty() || segments.getFirst().firstSequence() != 1) {
      throw refused(
          from
              + (segments.isEmpty()
                  ? " has no journal-*.log files, so it is no ledger."
                  : " has a journal that does not begin with fact 1. Stop its server and copy the"
                      + " whole directory."));
    }
    return reader;
  }

  private static StateDirectory emptyDirectory(Path to) throws IOException, LedgerRefusedException {
    StateDirectory target = StateDirectory.take(to);
    try {
      if (!ledgerFiles(target.path()).isEmpty()) {
        throw new LedgerRefusedException(
            Reason.NOT_WRITABLE,
            to
                + " has a ledger already, or a part of one. Move it away, or name another"
                + " directory; nothing was changed.",
            null);
      }
      return target;
    } catch (IOException | LedgerRefusedException refused) {
      target.close();
      throw refused;
    }
  }

  /**
   * Makes the database of a ledger that no server has again from its journal. If the journal is
   * damaged and the database is not, the journal is made again first, from the database: heads and
   * hashes are its events, and bodies its columns. What was replaced is kept. No fact is ever left
   * out: if a fact can be found in neither of the two, it is refused, and nothing is changed.
   *
   * @return what was done, one line an entry, for an operator
   */
  public static List<String> repair(Path stateDirectory) throws LedgerRefusedException {
    if (!Files.isDirectory(stateDirectory)) {
      throw refused(stateDirectory + " is no directory of a ledger: it is not there.");
    }
    try (StateDirectory directory = StateDirectory.take(stateDirectory)) {
      return new LedgerRepair(directory).run();
    } catch (IOException failure) {
      throw StateDirectory.notWritable(stateDirectory, Storage.rootMessage(failure), failure);
    }
  }

  /** Makes the database from the journal, checks the whole history, and closes it in order. */
  static String checkedDatabase(StateDirectory directory, JournalFiles files, Chain end)
      throws IOException, LedgerRefusedException {
    DatabaseDoor door =
        new DatabaseDoor(LedgerConfig.at(directory.path()), directory, files, NO_BOOT);
    DatabaseDoor.Opened opened = door.open();
    LedgerFacts.ChainReport report = new Verification().run(opened.database()::read, opened.head());
    if (!opened.head().equals(end) || !report.problems().isEmpty()) {
      opened.database().abandon();
      throw refused(
          "what was written to "
              + directory.path()
              + " does not read back as it was: "
              + (report.problems().isEmpty()
                  ? "it ends at fact " + opened.head().sequence() + ", not at " + end.sequence()
                  : report.problems().getFirst())
              + ". Its disk may be failing; use another one.");
    }
    opened.database().close();
    door.closed(end);
    return door.putRight().orElse("");
  }

  private static List<Path> ledgerFiles(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(LedgerFiles::isOfALedger).toList();
    }
  }

  private static boolean isOfALedger(Path file) {
    String name = file.getFileName().toString();
    return !name.equals(StateDirectory.LOCK_FILE)
        && (name.startsWith("ledger.")
            || name.startsWith("ledger-")
            || name.startsWith("journal-"));
  }

  private static void deleteLedger(Path directory) throws IOException {
    // The mark last: without it what is left of a copy could pass for a whole ledger.
    List<Path> marks = List.of(directory.resolve(DatabaseMark.FILE_NAME));
    for (Path file : ledgerFiles(directory)) {
      if (!marks.contains(file)) {
        Files.delete(file);
      }
    }
    for (Path mark : marks) {
      Files.deleteIfExists(mark);
    }
  }

  static LedgerRefusedException refused(String message) {
    return new LedgerRefusedException(Reason.DAMAGED, message, null);
  }
}
