package dev.blackbox.ledger;

import dev.blackbox.kernel.Problem;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.h2.api.ErrorCode;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStoreException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.argument.AbstractArgumentFactory;
import org.jdbi.v3.core.argument.Argument;
import org.jdbi.v3.core.config.ConfigRegistry;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.StatementExceptions;
import org.jdbi.v3.core.statement.StatementExceptions.MessageRendering;

/**
 * H2 with one connection for the writer, and some for reads.
 *
 * <p>Reads run on threads of this class, each with a connection of its own, and never on the
 * caller's: a thread that is interrupted inside H2 closes the channel of the database file, and
 * with it the database for everybody. Whoever calls {@link #read} may be interrupted at will.
 */
final class Database {

  /** H2's own default; named here because it is changed at times, and H2 would remember that. */
  private static final int WRITE_DELAY_MILLIS = 500;

  /** Behind the URL of a database that is looked at, and whose file stays as it is. */
  static final String READ_ONLY = ";ACCESS_MODE_DATA=r;IFEXISTS=TRUE";

  private static final Duration READS_END_WITHIN = Duration.ofSeconds(5);

  /** What H2 says of pages, rows and tables that are not what it wrote. */
  private static final Set<Integer> DAMAGE =
      Set.of(
          ErrorCode.FILE_CORRUPTED_1,
          ErrorCode.GENERAL_ERROR_1,
          ErrorCode.DESERIALIZATION_FAILED_1);

  private final JdbcDataSource source;
  private final Handle writer;
  private final List<Handle> all = new ArrayList<>();
  private final BlockingQueue<Handle> idleReaders;
  private final ThreadPoolExecutor readers;

  private Database(JdbcDataSource source, Jdbi jdbi, LedgerConfig config) {
    this.source = source;
    int count = config.readConnections();
    this.writer = opened(jdbi);
    this.idleReaders = new ArrayBlockingQueue<>(count);
    for (int i = 0; i < count; i++) {
      idleReaders.add(opened(jdbi));
    }
    this.readers =
        new ThreadPoolExecutor(
            count,
            count,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(config.queueMax()),
            Thread.ofPlatform().daemon().name("ledger-read-", 0).factory());
  }

  private Handle opened(Jdbi jdbi) {
    Handle handle = jdbi.open();
    all.add(handle);
    return handle;
  }

  /**
   * Settings, none of them H2's default: no shutdown hook (the ledger is closed by its owner), no
   * trace file (it could hold bodies), 16 MB of cache, all statements of this room kept parsed, and
   * no result given again: H2 2.5 marks a table as changed right before a commit shows, so that a
   * read in between would be given again as new, for as long as nothing else changes. The write
   * delay stays H2's own half second: the journal has what the file does not have yet.
   */
  static String url(Path directory) {
    return url(directory, StateDirectory.DATABASE, JournalFiles.in(directory));
  }

  static String url(Path directory, String name, JournalFiles files) {
    return "jdbc:h2:"
        + files.databaseScheme()
        + ":"
        + directory.resolve(name)
        + ";DB_CLOSE_ON_EXIT=FALSE;TRACE_LEVEL_FILE=0;CACHE_SIZE=16384;QUERY_CACHE_SIZE=128"
        + ";OPTIMIZE_REUSE_RESULTS=0;COMPRESS=TRUE;WRITE_DELAY="
        + WRITE_DELAY_MILLIS;
  }

  static Database open(Path directory, String name, JournalFiles files, LedgerConfig config) {
    return at(url(directory, name, files), config);
  }

  /** One whose file stays as it is; it has to be there. */
  static Database openReadOnly(Path directory, JournalFiles files, LedgerConfig config) {
    return at(url(directory, StateDirectory.DATABASE, files) + READ_ONLY, config);
  }

  private static Database at(String url, LedgerConfig config) {
    JdbcDataSource source = new JdbcDataSource();
    source.setURL(url);
    Jdbi jdbi = Jdbi.create(source);
    jdbi.registerArgument(new InstantArgumentFactory());
    jdbi.getConfig(SqlStatements.class).setUnusedBindingAllowed(true);
    // A failed statement's text would else hold its arguments: prompts and answers, in a log.
    jdbi.getConfig(StatementExceptions.class).setMessageRendering(MessageRendering.NONE);
    return new Database(source, jdbi, config);
  }

  JdbcDataSource source() {
    return source;
  }

  Connection connection() {
    return writer.getConnection();
  }

  /** For the writer's thread only. */
  Handle writer() {
    return writer;
  }

  /** The newest fact that is applied. */
  Chain applied() {
    return Rows.applied(writer);
  }

  /**
   * Forces what H2 wrote. That may be less than what is committed: {@code Store.flush} of H2 2.5
   * does not commit its store if {@code MVStore.compact} rewrote anything, so nothing that the
   * journal has may be deleted because of this.
   */
  void checkpoint() {
    Sql.execute(writer, "CHECKPOINT SYNC");
  }

  /** Runs a read, and waits for it whether interrupted or not. */
  <T> T read(Function<Handle, T> body) {
    try {
      return CompletableFuture.supplyAsync(() -> onReader(body), readers).join();
    } catch (RejectedExecutionException full) {
      if (readers.isShutdown()) {
        throw new IllegalStateException("the database is closed", full);
      }
      throw Problem.unavailable(
          "Too many reads wait for the ledger; try again.",
          Map.of("reads_waiting_max", readers.getQueue().size()));
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw failed;
    }
  }

  private <T> T onReader(Function<Handle, T> body) {
    // As many connections as threads: there is always one.
    Handle handle = idleReaders.remove();
    try {
      return body.apply(handle);
    } finally {
      idleReaders.add(handle);
    }
  }

  /** Ends reads, then closes the file in order. */
  void close() {
    endReads();
    closeHandles();
  }

  /** Lets go of the file as it is, after a failure, or when nothing may be written. */
  void abandon() {
    try {
      Sql.execute(writer, "SHUTDOWN IMMEDIATELY");
    } catch (RuntimeException alreadyDown) {
      System.getLogger(Database.class.getName())
          .log(System.Logger.Level.DEBUG, "the database was down already");
    }
    endReads();
    closeHandles();
  }

  private void endReads() {
    readers.shutdown();
    try {
      if (!readers.awaitTermination(READS_END_WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
        System.getLogger(Database.class.getName())
            .log(System.Logger.Level.WARNING, "a read did not end in {0}", READS_END_WITHIN);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeHandles() {
    for (Handle handle : all) {
      try {
        handle.close();
      } catch (RuntimeException alreadyDown) {
        System.getLogger(Database.class.getName())
            .log(System.Logger.Level.DEBUG, "a connection was down already");
      }
    }
  }

  /** Whether it cannot be opened because another program, such as a console of H2, has it open. */
  static boolean isLocked(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql
          && sql.getErrorCode() == ErrorCode.DATABASE_ALREADY_OPEN_1) {
        return true;
      }
    }
    return false;
  }

  /** Whether H2 found content in its file that it cannot read. */
  static boolean isDamage(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && DAMAGE.contains(sql.getErrorCode())) {
        return !isWriteFailure(failure);
      }
    }
    return false;
  }

  /**
   * Whether its file could not be written, as on a full disk: nothing is wrong with its content.
   */
  static boolean isWriteFailure(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof MVStoreException store
          && store.getErrorCode() == DataUtils.ERROR_WRITING_FAILED) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether what is committed waits in memory. H2 closes a database whose file cannot be written;
   * this keeps it from trying. Not within a transaction.
   */
  void holdWrites(boolean hold) {
    writer.execute("SET WRITE_DELAY " + (hold ? Integer.MAX_VALUE : WRITE_DELAY_MILLIS));
  }

  /** Whether the writer's connection still works. */
  boolean isUsable() {
    try {
      return connection().isValid(0);
    } catch (SQLException down) {
      return false;
    }
  }

  /**
   * An instant as UTC, whatever the machine's time zone: the driver's own way may pass through it.
   */
  private static final class InstantArgumentFactory extends AbstractArgumentFactory<Instant> {
    InstantArgumentFactory() {
      super(Types.TIMESTAMP_WITH_TIMEZONE);
    }

    @Override
    protected Argument build(Instant value, ConfigRegistry config) {
      return (position, statement, _) ->
          statement.setObject(position, value.atOffset(ZoneOffset.UTC));
    }
  }
}
