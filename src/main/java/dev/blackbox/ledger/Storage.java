package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.JournalReader.Segment;
import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Journal and database together: opened so that they agree, written so that they stay so, and
 * brought back when one of them failed. After {@link #open} only the writer's thread may use it,
 * but for {@link #database} and {@link #head}.
 *
 * <p>Invariants: the database never holds a fact that the journal does not hold; {@link #head} is
 * the newest fact that is safe in the journal; a fact that is in the journal is true, even if the
 * database fails right after.
 */
final class Storage {

  private static final System.Logger LOG = System.getLogger(Storage.class.getName());

  /** Facts per transaction when the journal is applied. */
  private static final int FACTS_PER_COMMIT = 500;

  private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

  private final LedgerConfig config;
  private final StateDirectory directory;
  private final JournalReader reader;
  private final Journal journal;

  private final RecentReads recent;
  private volatile Database database;
  private volatile Chain head = Chain.START;
  private Instant newest = Instant.EPOCH;
  private long factsApplied;
  private volatile boolean databaseDown;

  /** A transaction is being rolled back, and nobody knows yet whether that goes well. */
  private volatile boolean undoing;

  /** Why nothing can be recorded; empty while all is well. */
  private volatile String trouble = "";

  private @Nullable Long lastRetryNanos;
  private Duration afterFailure = Duration.ZERO;
  private long lastCheckpointNanos = System.nanoTime();

  private Storage(LedgerConfig config, StateDirectory directory, JournalFiles files)
      throws IOException, LedgerRefusedException {
    this.config = config;
    this.directory = directory;
    this.reader = new JournalReader(files, directory.path());
    this.journal = new Journal(files, config.sync());
    this.recent = new RecentReads(config.recentReadsBytesMax());
    refuseLostDatabase(reader.segments());
    this.database = openDatabase(Long.MAX_VALUE);
  }

  /** Opens both, applies what the database does not have yet, and begins a new segment. */
  static Storage open(LedgerConfig config, StateDirectory directory, JournalFiles files)
      throws LedgerRefusedException {
    @Nullable Storage storage = null;
    try {
      storage = new Storage(config, directory, files);
      storage.turnSegment();
      return storage;
    } catch (IOException | RuntimeException failure) {
      if (storage != null) {
        storage.journal.close();
        storage.database.abandon();
      }
      throw StateDirectory.notWritable(directory.path(), rootMessage(failure), failure);
    }
  }

  /** A database that is gone, while its journal begins later, must not become a new empty one. */
  private void refuseLostDatabase(List<Segment> segments)
      throws IOException, LedgerRefusedException {
    boolean there =
        Files.exists(directory.databaseFile()) && Files.size(directory.databaseFile()) > 0;
    if (!there && !segments.isEmpty() && segments.getFirst().header().before().sequence() > 0) {
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          directory.databaseFile()
              + " is missing or empty, and the journal begins only after fact "
              + segments.getFirst().header().before().sequence()
              + ". Put the database back, or restore database and journal from one backup.",
          null);
    }
  }

  /** Opens the database, brings its tables up to date, and applies the journal's tail. */
  private Database openDatabase(long through) throws IOException, LedgerRefusedException {
    directory.makeDatabaseFile();
    @Nullable Database opened = null;
    boolean good = false;
    try {
      opened = Database.open(directory.path(), config);
      if (Schema.bringUpToDate(opened.source(), opened.connection(), directory.path())) {
        opened.checkpoint();
      }
      head = applyJournal(opened, through);
      newest = Rows.newestTime(opened.writer());
      good = true;
      return opened;
    } catch (SQLException | RuntimeException failure) {
      if (Database.isWriteFailure(failure)) {
        throw StateDirectory.notWritable(directory.path(), rootMessage(failure), failure);
      }
      if (Database.isLocked(failure)) {
        throw StateDirectory.locked(directory.path(), "unknown (another program has the database)");
      }
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          "the database "
              + directory.databaseFile()
              + " cannot be opened: "
              + rootMessage(failure)
              + ". Restore database and journal from one backup.",
          failure);
    } finally {
      if (!good && opened != null) {
        opened.abandon();
      }
    }
  }

  private Chain applyJournal(Database opened, long through)
      throws IOException, LedgerRefusedException {
    Chain applied = opened.applied();
    factsApplied = 0;
    if (applied.sequence() == 0 && reader.segments().isEmpty()) {
      return Chain.START;
    }
    Chain end = reader.replay(applied, through, fact -> apply(opened, fact));
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

  /** How many facts of the journal were applied when it was opened last. */
  long factsApplied() {
    return factsApplied;
  }

  Database database() {
    return database;
  }

  /** What was read lately. */
  RecentReads recent() {
    return recent;
  }

  /** The newest fact that is safe. */
  Chain head() {
    return head;
  }

  /** Whether facts could be recorded when it was last tried. */
  boolean isStanding() {
    return !databaseDown && journal.isOpen();
  }

  /**
   * Whether facts can be recorded; tries to bring back what failed, but not more than once in
   * {@link #RETRY_AFTER}.
   */
  boolean isUp() {
    if (isStanding()) {
      return true;
    }
    Long last = lastRetryNanos;
    if (last != null && System.nanoTime() - last < RETRY_AFTER.toNanos()) {
      return false;
    }
    lastRetryNanos = System.nanoTime();
    try {
      if (databaseDown) {
        reopenDatabase();
      }
      if (!journal.isOpen()) {
        journal.begin(head);
        database.holdWrites(false);
      }
      trouble = "";
      LOG.log(System.Logger.Level.INFO, "the ledger can be written again");
      return true;
    } catch (IOException | LedgerRefusedException failure) {
      trouble = String.valueOf(failure.getMessage());
      LOG.log(
          System.Logger.Level.WARNING,
          "the ledger cannot be written yet: {0}",
          failure.getMessage());
      return false;
    }
  }

  /** Opens a transaction. Throws what H2 or JDBI throws. */
  Batch begin(InstantSource clock) {
    database.writer().begin();
    return new Batch(database.writer(), clock, head, newest);
  }

  void rollback() {
    undoing = true;
    try {
      database.writer().rollback();
    } catch (RuntimeException failure) {
      failed(failure);
    } finally {
      undoing = false;
    }
  }

  /** A transaction in which nothing may be recorded, for what can be answered without. */
  Batch beginReadOnly(InstantSource clock) {
    database.writer().begin();
    return Batch.readOnly(database.writer(), clock, head, newest);
  }

  /**
   * To be asked after a read: a rollback that fails, as on a full disk, makes H2 show what was to
   * be undone, so what was read from a database that failed does not count.
   *
   * @throws IllegalStateException if it does not count
   */
  void confirmRead(Database seen) {
    while (undoing) {
      LockSupport.parkNanos(100_000); // a rollback is done in memory, within a millisecond
    }
    if (databaseDown || database != seen) {
      throw new IllegalStateException("the database failed meanwhile");
    }
  }

  /** Why nothing can be recorded at the moment, and what to do about it; empty if all is well. */
  String trouble() {
    return trouble.isEmpty()
        ? ""
        : "the ledger in "
            + directory.path()
            + " cannot be written: "
            + trouble
            + ". Free space on its disk, or make it writable again; the server then goes on by"
            + " itself.";
  }

  /** Journal first, then the database. On return the facts are safe, and every read sees them. */
  void commit(Batch batch) throws UnwrittenException {
    if (!batch.isEmpty()) {
      appendOrRollBack(batch);
    }
    recent.changing(batch.touched());
    try {
      commitRows();
    } finally {
      recent.changed();
    }
  }

  private void commitRows() throws UnwrittenException {
    try {
      database.writer().commit();
    } catch (RuntimeException failure) {
      failed(failure);
      // The facts are true now. Callers are told so once the rows are there too.
      if (!isUp()) {
        throw new UnwrittenException(RECORDED_NOT_VISIBLE, true, failure);
      }
    }
  }

  private void appendOrRollBack(Batch batch) throws UnwrittenException {
    try {
      journal.append(batch.records());
    } catch (IOException | RuntimeException | OutOfMemoryError failure) {
      LOG.log(System.Logger.Level.ERROR, "writing the journal failed: {0}", rootMessage(failure));
      trouble = rootMessage(failure);
      boolean gone = journal.retract();
      rollback();
      holdWrites();
      throw new UnwrittenException(
          (gone ? NOTHING : PERHAPS) + " Reason: " + trouble, false, failure);
    }
    head = batch.head();
    newest = batch.newest();
  }

  /** The database must not fail too, so that reads go on: it tries to write again when we do. */
  private void holdWrites() {
    if (databaseDown) {
      return;
    }
    try {
      database.holdWrites(true);
    } catch (RuntimeException failure) {
      failed(failure);
    }
  }

  /** Checkpoints if enough was written since the last one, or long enough ago. */
  void checkpointIfDue() {
    if (isUp() && untilCheckpoint().isZero()) {
      checkpoint();
    }
  }

  /** Time until the next checkpoint; a day if there is nothing to checkpoint. */
  Duration untilCheckpoint() {
    if (!journal.isOpen() || journal.factBytes() == 0) {
      return Duration.ofDays(1);
    }
    // Even a full segment waits a little after an attempt that failed.
    Duration every =
        journal.factBytes() >= config.checkpointBytes() ? afterFailure : config.checkpointEvery();
    Duration left = every.minusNanos(System.nanoTime() - lastCheckpointNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  private void checkpoint() {
    lastCheckpointNanos = System.nanoTime();
    afterFailure = RETRY_AFTER;
    try {
      turnSegment();
      afterFailure = Duration.ZERO;
    } catch (IOException later) {
      LOG.log(
          System.Logger.Level.WARNING,
          "no new segment could be begun, the old one goes on: {0}",
          later.getMessage());
    } catch (RuntimeException failure) {
      failed(failure);
    }
  }

  /** Forces the database; then the segments before are not needed any more. */
  private void turnSegment() throws IOException {
    database.checkpoint();
    journal.begin(head);
    journal.deleteOlder(head);
    lastCheckpointNanos = System.nanoTime();
  }

  /** Looks at the database, because a read of it failed. */
  void check() {
    if (!databaseDown && !database.isUsable()) {
      failed(new IllegalStateException("a read found it closed"));
    }
    if (databaseDown) {
      isUp();
    }
  }

  /** The database failed in a way that is no verb's fault. */
  void failed(RuntimeException failure) {
    LOG.log(System.Logger.Level.ERROR, "the database failed: {0}", rootMessage(failure));
    trouble = rootMessage(failure);
    databaseDown = true;
  }

  private void reopenDatabase() throws IOException, LedgerRefusedException {
    database.abandon();
    Chain safe = head;
    Database again = openDatabase(safe.sequence());
    if (!head.equals(safe)) {
      head = safe;
      again.abandon();
      throw new IOException("the journal ends before fact " + safe.sequence());
    }
    if (!journal.isOpen()) {
      again.holdWrites(true);
    }
    database = again;
    databaseDown = false;
    recent.forgetAll();
  }

  /** A last checkpoint, if possible, and the end. */
  void close() {
    if (!databaseDown && journal.isOpen() && journal.factBytes() > 0) {
      checkpoint();
    }
    journal.close();
    if (databaseDown) {
      database.abandon();
    } else {
      database.close();
    }
  }

  static String rootMessage(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    // Of SQL failures only kind and code: their text can repeat values of rows.
    return root instanceof SQLException sql
        ? sql.getClass().getSimpleName() + " " + sql.getErrorCode()
        : String.valueOf(root.getMessage());
  }

  private static final String NOTHING =
      "The ledger cannot be written at the moment; nothing was recorded. Try again.";
  private static final String PERHAPS =
      "The ledger cannot be written at the moment. Nothing was recorded, unless the server restarts"
          + " before it can write again. Try again with the same identifiers.";
  private static final String RECORDED_NOT_VISIBLE =
      "It is recorded, but the ledger's database cannot be read at the moment. Try again with the"
          + " same identifiers.";

  /** What callers are told while nothing can be recorded. */
  Problem unavailable() {
    String why = trouble;
    return Problem.unavailable(why.isEmpty() ? NOTHING : NOTHING + " Reason: " + why, Map.of());
  }

  /** What a batch's callers are told instead of their results. */
  static final class UnwrittenException extends Exception {
    private final boolean recorded;

    UnwrittenException(String message, boolean recorded, Throwable cause) {
      super(message, cause);
      this.recorded = recorded;
    }

    /** The facts are safe in the journal, but the rows are not there yet. */
    boolean isRecorded() {
      return recorded;
    }

    Problem toProblem() {
      return new Problem(
          ErrorCode.SERVICE_UNAVAILABLE, String.valueOf(getMessage()), Map.of(), this);
    }
  }
}
