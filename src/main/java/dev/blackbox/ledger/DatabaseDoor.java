package dev.blackbox.ledger;

import dev.blackbox.ledger.DatabaseMark.Left;
import dev.blackbox.ledger.JournalReader.Segment;
import dev.blackbox.ledger.JournalReader.Tail;
import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Opens the database so that it agrees with the journal. One that cannot be opened or trusted is
 * made again from the journal, beside the old one, which is kept until the new one is whole and
 * then once more under {@link StateDirectory#DAMAGED_FILE}.
 *
 * <p>Where the journal does not begin with the first fact that is not possible: then a database
 * that opens and whose whole history checks goes on, and any other is refused.
 */
final class DatabaseDoor {

  private static final System.Logger LOG = System.getLogger(DatabaseDoor.class.getName());

  /** Facts per transaction when the journal is applied. */
  private static final int FACTS_PER_COMMIT = 500;

  private final LedgerConfig config;
  private final StateDirectory directory;
  private final JournalFiles files;
  private final JournalReader reader;
  private final DatabaseMark mark;
  private final String machineBootId;
  private final Refusals refusals;

  private volatile Optional<String> putRight = Optional.empty();
  private long factsApplied;
  private boolean rebuiltWhileOpen;
  private boolean unbegun;
  private boolean unchecked;

  /** Who knows of how many facts that were safe: a journal with fewer lost its end. */
  private Witness witness = new Witness(DatabaseMark.FILE_NAME, 0);

  private record Witness(String name, long sequence) {}

  DatabaseDoor(
      LedgerConfig config, StateDirectory directory, JournalFiles files, String machineBootId) {
    this.config = config;
    this.directory = directory;
    this.files = files;
    this.reader = new JournalReader(files, directory.path());
    this.mark = new DatabaseMark(files);
    this.machineBootId = machineBootId;
    this.refusals = new Refusals(directory);
  }

  /**
   * A database that has what the journal has.
   *
   * @param head the newest fact that is safe
   * @param newest its time
   */
  record Opened(Database database, Chain head, Instant newest, long factsApplied) {}

  /** One that does not work, but may be made again. */
  private static final class BrokenException extends Exception {
    BrokenException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** What had to be put right, one line for an operator; empty if nothing. */
  Optional<String> putRight() {
    return putRight;
  }

  /** At a start. */
  Opened open() throws IOException, LedgerRefusedException {
    List<Segment> segments = reader.segments();
    Left left = mark.read();
    witness = new Witness(DatabaseMark.FILE_NAME, left.safeSequence());
    if (directory.hasNoFileAsDatabase()) {
      throw refusals.notAFile();
    }
    refuseLostJournal(segments);
    if (segments.isEmpty() && isNew(left)) {
      return openNew();
    }
    Optional<String> distrust =
        DatabaseMark.distrust(left, directory.databaseFile(), machineBootId);
    Tail tail =
        distrust.isPresent() && left instanceof Left.Open open && open.sync() == Sync.PROCESS
            ? Tail.LOSSY
            : Tail.SAFE;
    Opened opened =
        distrust.isEmpty()
            ? openOrRebuild(segments, Long.MAX_VALUE)
            : withoutTrust(segments, distrust.get(), tail);
    if (tail == Tail.SAFE && opened.head.sequence() < witness.sequence) {
      opened.database.abandon();
      throw refusals.lostEnd(opened.head.sequence(), witness.name, witness.sequence);
    }
    return opened;
  }

  private boolean isNew(Left left) throws IOException {
    return left instanceof Left.New || (left instanceof Left.Unsaid && !directory.hasDatabase());
  }

  /** What a start left that was cut short is of no use to anybody. */
  private Opened openNew() throws IOException, LedgerRefusedException {
    unbegun = true;
    mark.write(new Left.New());
    files.delete(StateDirectory.DATABASE_FILE);
    try {
      return plain(Long.MAX_VALUE, Tail.SAFE);
    } catch (BrokenException broken) {
      throw new IOException(String.valueOf(broken.getMessage()), broken);
    }
  }

  /** The journal has a segment from now on. */
  void begun() throws IOException {
    if (unbegun) {
      unbegun = false;
      mark.write(openMark());
    }
  }

  private Left.Open openMark() {
    return new Left.Open(witness.sequence, config.sync(), machineBootId);
  }

  /**
   * Later, because it failed.
   *
   * @param safe the newest fact that is safe
   * @param damaged its file has content that H2 cannot read
   */
  Opened reopen(Chain safe, boolean damaged) throws IOException, LedgerRefusedException {
    List<Segment> segments = reader.segments();
    // Once: what H2 still finds then is no damage of the file.
    boolean rebuilds = damaged && !rebuiltWhileOpen && isWhole(segments);
    rebuiltWhileOpen |= rebuilds;
    return rebuilds
        ? rebuild("H2 found its file corrupted", safe.sequence(), Tail.SAFE)
        : openOrRebuild(segments, safe.sequence());
  }

  /** The next boot shall not trust this file. */
  void distrust(Chain head, String reason) {
    mark.tryWrite(() -> new Left.Untrusted(head.sequence(), reason));
  }

  /** After an orderly end: the next boot can tell that it is the same file. */
  void closed(Chain head) {
    mark.tryWrite(() -> DatabaseMark.closed(directory.databaseFile(), head.sequence()));
  }

  private static boolean isWhole(List<Segment> segments) {
    return !segments.isEmpty() && segments.getFirst().firstSequence() == 1;
  }

  private Opened openOrRebuild(List<Segment> segments, long through)
      throws IOException, LedgerRefusedException {
    boolean there = directory.hasDatabase();
    if (!there && !segments.isEmpty()) {
      if (!isWhole(segments)) {
        throw refusals.lostDatabase(segments.getFirst().firstSequence());
      }
      return rebuild("it is missing or empty", through, Tail.SAFE);
    }
    try {
      return plain(through, Tail.SAFE);
    } catch (BrokenException broken) {
      if (isWhole(segments)) {
        return rebuild(String.valueOf(broken.getMessage()), through, Tail.SAFE);
      }
      return again(broken, through);
    }
  }

  /** H2 gives up a database by mistakes of its own too, and then it opens the next time. */
  private Opened again(BrokenException first, long through)
      throws IOException, LedgerRefusedException {
    LOG.log(
        System.Logger.Level.WARNING,
        "the database is opened once more, because {0}",
        first.getMessage());
    try {
      return plain(through, Tail.SAFE);
    } catch (BrokenException broken) {
      throw refusals.damagedDatabase(broken);
    }
  }

  private Opened withoutTrust(List<Segment> segments, String why, Tail tail)
      throws IOException, LedgerRefusedException {
    if (!isWhole(segments)) {
      return checked(segments, why);
    }
    DatabasePeek.Found found = DatabasePeek.into(directory, files);
    if (found.schema() > Schema.VERSION) {
      throw Schema.newer(directory.path(), "schema " + found.schema());
    }
    if (found.applied() > witness.sequence) {
      witness = new Witness(StateDirectory.DATABASE_FILE, found.applied());
    }
    return rebuild(why, Long.MAX_VALUE, tail);
  }

  /** It cannot be made again: if all that can be checked is good, it goes on. */
  private Opened checked(List<Segment> segments, String why)
      throws IOException, LedgerRefusedException {
    // Until it is checked nothing says that it is good: the next start has the same doubts.
    unchecked = true;
    Opened opened = openOrRebuild(segments, Long.MAX_VALUE);
    LedgerFacts.ChainReport report = new Verification().run(opened.database::read, opened.head);
    if (report.problems().isEmpty()) {
      unchecked = false;
      mark.write(openMark());
      putRight("the database was checked, because " + why + "; its history is whole");
      return opened;
    }
    opened.database.abandon();
    throw refusals.badHistory(why, report.problems());
  }

  /** Makes it again beside the old one, and only then in its place. */
  private Opened rebuild(String why, long through, Tail tail)
      throws IOException, LedgerRefusedException {
    LOG.log(
        System.Logger.Level.WARNING,
        "the database {0} cannot be used, because {1}; it is made again from the journal",
        directory.databaseFile(),
        why);
    try {
      make(through, tail);
    } catch (SQLException | RuntimeException failure) {
      throw new IOException(
          "making the database again failed: " + Storage.rootMessage(failure), failure);
    }
    boolean kept = directory.hasDatabase();
    if (kept) {
      files.rename(StateDirectory.DATABASE_FILE, StateDirectory.DAMAGED_FILE);
    }
    files.rename(StateDirectory.REBUILD_FILE, StateDirectory.DATABASE_FILE);
    files.forceDirectory();
    long rebuilt = factsApplied;
    try {
      Opened opened = plain(through, tail);
      putRight(
          "the database was made again from "
              + rebuilt
              + " facts of the journal, because "
              + why
              + (kept ? "; the old one is kept as " + StateDirectory.DAMAGED_FILE : ""));
      return new Opened(opened.database, opened.head, opened.newest, rebuilt);
    } catch (BrokenException broken) {
      throw refusals.damagedDatabase(broken);
    }
  }

  /** The file of a database that has the whole journal, closed and forced. */
  private void make(long through, Tail tail)
      throws IOException, LedgerRefusedException, SQLException {
    files.delete(StateDirectory.REBUILD_FILE);
    directory.makeFile(StateDirectory.REBUILD_FILE);
    @Nullable Database fresh = null;
    boolean done = false;
    try {
      Database made = Database.open(directory.path(), StateDirectory.REBUILD, files, config);
      fresh = made;
      Schema.create(made.connection());
      factsApplied = 0;
      Chain end =
          reader.replay(
              Chain.START,
              through,
              tail,
              WithoutTrimmed.of(reader, through, tail, fact -> apply(made, fact)));
      if (made.writer().isInTransaction()) {
        made.writer().commit();
      }
      if (tail == Tail.SAFE && end.sequence() < witness.sequence) {
        throw refusals.lostEnd(end.sequence(), witness.name, witness.sequence);
      }
      made.checkpoint();
      made.close();
      done = true;
    } finally {
      if (!done) {
        if (fresh != null) {
          fresh.abandon();
        }
        files.delete(StateDirectory.REBUILD_FILE);
      }
    }
  }

  private void putRight(String what) {
    LOG.log(System.Logger.Level.WARNING, what);
    putRight = Optional.of(what);
  }

  /** Opens it as it is, brings its tables up to date, and applies the journal's tail. */
  private Opened plain(long through, Tail tail)
      throws IOException, LedgerRefusedException, BrokenException {
    directory.makeFile(StateDirectory.DATABASE_FILE);
    @Nullable Database opened = null;
    boolean good = false;
    try {
      opened = Database.open(directory.path(), StateDirectory.DATABASE, files, config);
      Schema.refuseNewer(opened.connection(), directory.path());
      if (!unbegun && !unchecked && !mark.read().equals(openMark())) {
        // Before anything is written that the next boot of the machine must not trust. Not again if
        // it is there: on a full disk the database opens for reads, and no mark can be written.
        mark.write(openMark());
      }
      migrate(opened);
      Chain head = applyJournal(opened, through, tail);
      Instant newest = Rows.newestTime(opened.writer());
      good = true;
      return new Opened(opened, head, newest, factsApplied);
    } catch (SQLException | RuntimeException failure) {
      if (Database.isWriteFailure(failure)) {
        throw StateDirectory.notWritable(directory.path(), Storage.rootMessage(failure), failure);
      }
      if (Database.isLocked(failure)) {
        throw StateDirectory.locked(directory.path(), "unknown (another program has the database)");
      }
      throw new BrokenException("it cannot be opened: " + Storage.rootMessage(failure), failure);
    } finally {
      if (!good && opened != null) {
        opened.abandon();
      }
    }
  }

  private void migrate(Database opened)
      throws SQLException, LedgerRefusedException, BrokenException {
    try {
      if (Schema.bringUpToDate(opened.source(), opened.connection(), directory.path())) {
        opened.checkpoint();
      }
    } catch (LedgerRefusedException refused) {
      if (refused.reason() == LedgerRefusedException.Reason.DAMAGED) {
        throw new BrokenException(String.valueOf(refused.getMessage()), refused);
      }
      throw refused;
    }
  }

  private Chain applyJournal(Database opened, long through, Tail tail)
      throws IOException, LedgerRefusedException {
    Chain applied = opened.applied();
    factsApplied = 0;
    if (applied.sequence() == 0 && reader.segments().isEmpty()) {
      return Chain.START;
    }
    Chain end = reader.replay(applied, through, tail, new ForwardOnly(fact -> apply(opened, fact)));
    if (opened.writer().isInTransaction()) {
      opened.writer().commit();
    }
    if (factsApplied > 0) {
      LOG.log(
          System.Logger.Level.INFO,
          "applied {0} facts of the journal, up to fact {1}",
          factsApplied,
          end.sequence());
    }
    return end;
  }

  private void apply(Database opened, JournalRecord fact) throws LedgerRefusedException {
    if (!opened.writer().isInTransaction()) {
      opened.writer().begin();
    }
    try {
      Batch.apply(opened.writer(), fact.before(), fact.fact());
    } catch (FactCodec.UnknownFactException newer) {
      throw Schema.newer(directory.path(), newer.getMessage() + " at fact " + fact.sequence());
    }
    factsApplied++;
    if (factsApplied % FACTS_PER_COMMIT == 0) {
      opened.writer().commit();
    }
  }

  private void refuseLostJournal(List<Segment> segments) throws LedgerRefusedException {
    if (segments.isEmpty() && witness.sequence > 0) {
      throw refusals.lostJournal(witness.sequence);
    }
  }
}
