package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/**
 * The tables, and how they get there: a fresh ledger runs the migrations as they are, an older one
 * is migrated by Flyway, and a current one is left alone. Starting Flyway costs a third of a start,
 * so it is started only for what it is good at.
 */
final class Schema {

  /** All migrations in {@code db/}, in order. */
  static final List<String> MIGRATIONS =
      List.of(
          "V001__first_tables.sql",
          "V002__command_ids.sql",
          "V003__call_records.sql",
          "V004__agent_retries.sql",
          "V005__trimmed_sessions.sql",
          "V006__captured_calls.sql");

  /** The version of the tables after all of them. */
  static final int VERSION = MIGRATIONS.size();

  private static final String TABLE_THERE =
      """
      SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES
      WHERE TABLE_SCHEMA = 'PUBLIC' AND TABLE_NAME = 'LEDGER_SCHEMA'\
      """;

  private static final String NEWEST = "SELECT COALESCE(MAX(version), 0) FROM ledger_schema";

  private Schema() {}

  /** The version of the tables that are there; 0 if they are not, or not finished. */
  static int versionOf(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return number(statement, TABLE_THERE) == 0 ? 0 : number(statement, NEWEST);
    }
  }

  /**
   * Brings the tables to {@link #VERSION}.
   *
   * @return whether there was anything to do
   */
  static boolean bringUpToDate(DataSource database, Connection connection, Path directory)
      throws SQLException, LedgerRefusedException {
    refuseNewer(connection, directory);
    int found = versionOf(connection);
    if (found == VERSION) {
      return false;
    }
    if (found == 0) {
      // Again from the start if it was cut short: every statement may run twice.
      create(connection);
    } else {
      migrate(database, "classpath:db", found, directory);
    }
    return true;
  }

  static void refuseNewer(Connection connection, Path directory)
      throws SQLException, LedgerRefusedException {
    int found = versionOf(connection);
    if (found > VERSION) {
      throw newer(directory, "schema " + found);
    }
  }

  static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String migration : MIGRATIONS) {
        statement.execute(text(migration));
      }
    }
  }

  /** The tables came from {@link #create} or from here: so their version is Flyway's baseline. */
  static void migrate(DataSource database, String location, int found, Path directory)
      throws LedgerRefusedException {
    try {
      Flyway.configure()
          .dataSource(database)
          .locations(location)
          .baselineOnMigrate(true)
          .baselineVersion(String.valueOf(found))
          .load()
          .migrate();
    } catch (FlywayException failure) {
      throw new LedgerRefusedException(
          Reason.DAMAGED,
          "the tables in "
              + directory
              + " cannot be brought from version "
              + found
              + " to "
              + VERSION
              + ": "
              + failure.getMessage(),
          failure);
    }
  }

  static LedgerRefusedException newer(Path directory, String found) {
    return new LedgerRefusedException(
        Reason.NEWER_VERSION,
        "the ledger in "
            + directory
            + " was written by a newer version of this program ("
            + found
            + "; this one knows journal format "
            + SegmentHeader.FORMAT
            + ", schema "
            + VERSION
            + "). Nothing was changed. Start the newer version.",
        null);
  }

  private static String text(String migration) {
    try (InputStream file = Schema.class.getResourceAsStream("/db/" + migration)) {
      if (file == null) {
        throw new IllegalStateException("not on the class path: db/" + migration);
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new IllegalStateException("cannot be read: db/" + migration, unreadable);
    }
  }

  private static int number(Statement statement, String query) throws SQLException {
    try (ResultSet result = statement.executeQuery(query)) {
      return result.next() ? result.getInt(1) : 0;
    }
  }
}
