package dev.blackbox.ledger;

import dev.blackbox.kernel.Problem;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Journal and database together: opened so that they agree, written so that they stay so, and
 * brought back when one of them failed. Once opened, by {@link StorageOpening}, only the writer's
 * thread may use it, but for {@link #database} and {@link #head}.
 *
 * <p>Invariants: the database never holds a fact that the journal does not hold; {@link #head} is
 * the newest fact that is safe in the journal; a fact that is in the journal is true, even if the
 * database fails right after.
 */
final class Storage {

  private static final System.Logger LOG = System.getLogger(Storage.class.getName());

  private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

  private final LedgerConfig config;
  private final StateDirectory directory;
  private final DatabaseDoor door;
  private final Journal journal;

  private final RecentReads recent;
  private volatile Database database;
  private volatile Chain head = Chain.START;
  private Instant newest = Instant.EPOCH;
  private long factsApplied;
  private volatile boolean databaseDown;
  private boolean databaseDamaged;
  private boolean forceFailed;
  private long checkpointedSequence;

  /** A transaction is being rolled back, and nobody knows yet whether that goes well. */
  private volatile boolean undoing;

  /** Why nothing can be recorded; empty while all is well. */
  private volatile String trouble = "";

  private @Nullable Long lastRetryNanos;
  private Duration afterFailure = Duration.ZERO;
  private long lastCheckpointNanos = System.nanoTime();

  private volatile Runnable segmentBegun = () -> {};

  /** Of what {@link StorageOpening} opened; {@link #begin} comes next. */
  Storage(
      LedgerConfig config,
      StateDirectory directory,
      DatabaseDoor door,
      Journal journal,
      DatabaseDoor.Opened opened) {
    this.config = config;
    this.directory = directory;
    this.door = door;
    this.journal = journal;
    this.recent = new RecentReads(config.recentReadsBytesMax());
    this.database = opened.database();
    this.head = opened.head();
    this.newest = opened.newest();
    this.factsApplied = opened.factsApplied();
  }

  /** Begins a new segment, so that it can be written. */
  void begin() throws IOException {
    turnSegment();
    door.begun();
  }

  /** Lets go of everything as it is. */
  void abandon() {
    journal.close();
    database.abandon();
  }

  /** How many facts of the journal were applied when it was opened last. */
  long factsApplied() {
    return factsApplied;
  }

  Database database() {
    return database;
  }

  /** What had to be put right at the last opening of the database, for an operator. */
  Optional<String> putRight() {
    return door.putRight();
  }

  /** What was read lately. */
  RecentReads recent() {
    return recent;
  }

  /** {@code heard} is told of each new segment; by the writer's thread, which must not wait. */
  void onSegment(Runnable heard) {
    segmentBegun = heard;
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
    recent.changing(batch.touched(), batch.trims());
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
        throw UnwrittenException.notVisible(failure);
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
      throw UnwrittenException.notRecorded(gone, trouble, failure);
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
    if (!journal.isOpen() || checkpointedSequence == head.sequence()) {
      return Duration.ofDays(1);
    }
    // Even a full segment waits a little after an attempt that failed.
    Duration every =
        journal.factBytes() >= config.segmentBytes() ? afterFailure : config.checkpointEvery();
    Duration left = every.minusNanos(System.nanoTime() - lastCheckpointNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  private void checkpoint() {
    lastCheckpointNanos = System.nanoTime();
    afterFailure = RETRY_AFTER;
    try {
      if (journal.factBytes() >= config.segmentBytes()) {
        turnSegment();
      } else {
        checkpointDatabase();
      }
      afterFailure = Duration.ZERO;
    } catch (IOException later) {
      LOG.log(
          System.Logger.Level.WARNING, "no new segment could be begun: {0}", later.getMessage());
    } catch (RuntimeException failure) {
      failed(failure);
    }
  }

  /** Forces the database, and begins a new segment. */
  private void turnSegment() throws IOException {
    checkpointDatabase();
    journal.begin(head);
    lastCheckpointNanos = System.nanoTime();
    segmentBegun.run();
  }

  private void checkpointDatabase() {
    try {
      database.checkpoint();
      checkpointedSequence = head.sequence();
    } catch (RuntimeException failure) {
      // Whatever a later force says: what this one had to write may never reach the disk.
      forceFailed = true;
      door.distrust(head, "a forced write of it failed");
      throw failure;
    }
  }

  /** Looks at the database, because a read of it failed. */
  void check(RuntimeException failure) {
    if (!databaseDown && (Database.isDamage(failure) || !database.isUsable())) {
      failed(failure);
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
    databaseDamaged |= Database.isDamage(failure);
  }

  private void reopenDatabase() throws IOException, LedgerRefusedException {
    database.abandon();
    Chain safe = head;
    DatabaseDoor.Opened again = door.reopen(safe, databaseDamaged);
    if (!again.head().equals(safe)) {
      again.database().abandon();
      throw new IOException("the journal ends before fact " + safe.sequence());
    }
    if (!journal.isOpen()) {
      again.database().holdWrites(true);
    }
    database = again.database();
    newest = again.newest();
    databaseDown = false;
    databaseDamaged = false;
    if (forceFailed) {
      door.distrust(head, "a forced write of it failed");
    }
    recent.forgetAll();
  }

  /** A last checkpoint, if possible, and the end. */
  void close() {
    if (!databaseDown && checkpointedSequence != head.sequence()) {
      checkpoint();
    }
    journal.close();
    if (databaseDown) {
      database.abandon();
      return;
    }
    database.close();
    if (!forceFailed) {
      door.closed(head);
    }
  }

  static String rootMessage(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return switch (root) {
      // Only kind and code: the text can repeat values of rows.
      case SQLException sql -> sql.getClass().getSimpleName() + " " + sql.getErrorCode();
      // Its text can be the file alone.
      case FileSystemException file -> StateDirectory.reason(file);
      default -> String.valueOf(root.getMessage());
    };
  }

  /** What callers are told while nothing can be recorded. */
  Problem unavailable() {
    return UnwrittenException.nothingNow(trouble);
  }
}
