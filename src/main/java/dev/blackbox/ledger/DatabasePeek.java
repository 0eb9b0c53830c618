package dev.blackbox.ledger;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Looks into a database that is not trusted, without changing it. */
final class DatabasePeek {

  private static final System.Logger LOG = System.getLogger(DatabasePeek.class.getName());

  private static final String NEWEST_TWO =
      "SELECT sequence, hash, head FROM event ORDER BY sequence DESC LIMIT 2";

  private DatabasePeek() {}

  /**
   * What it says of itself, as far as that can be believed.
   *
   * @param schema version of its tables; 0 if it cannot be read
   * @param applied its newest fact, if that continues the one before; else 0
   */
  record Found(int schema, long applied) {}

  static Found into(StateDirectory directory, JournalFiles files) {
    String url =
        Database.url(directory.path(), StateDirectory.DATABASE, files) + Database.READ_ONLY;
    try (Connection connection = DriverManager.getConnection(url)) {
      return new Found(Schema.versionOf(connection), applied(connection));
    } catch (SQLException | RuntimeException unreadable) {
      LOG.log(
          System.Logger.Level.INFO,
          "the old database says nothing: {0}",
          Storage.rootMessage(unreadable));
      return new Found(0, 0);
    }
  }

  private static long applied(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet events = statement.executeQuery(NEWEST_TWO)) {
      if (!events.next()) {
        return 0;
      }
      Chain newest = Chain.at(events.getLong(1), events.getBytes(2));
      String head = events.getString(3);
      Chain before = events.next() ? Chain.at(events.getLong(1), events.getBytes(2)) : Chain.START;
      return before.next(head).equals(newest) ? newest.sequence() : 0;
    }
  }
}
