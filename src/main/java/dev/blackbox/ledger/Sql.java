package dev.blackbox.ledger;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Statements of the hot paths and of the start, straight to the driver: JDBI needs several times
 * the processor time of H2 for a statement of one row, and as much again for its first one. What is
 * rare stays with JDBI. H2 keeps the parsed statements of a connection by their text ({@link
 * Database#url}), so preparing one again is cheap.
 */
final class Sql {

  /** As many as there are constants in this room; no text is made at run time. */
  private static final Map<String, Named> PARSED = new ConcurrentHashMap<>();

  private Sql() {}

  /** Makes a value of the row that a result stands at. */
  interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private record Named(String positional, List<String> names) {}

  /** The first row; parameters are those of the {@code ?} in order. */
  static <T> Optional<T> first(
      Handle handle, String sql, RowReader<T> reader, Object... parameters) {
    return query(
        handle,
        sql,
        rows -> rows.next() ? Optional.of(reader.read(rows)) : Optional.empty(),
        parameters);
  }

  /** All rows, in order. */
  static <T> List<T> list(Handle handle, String sql, RowReader<T> reader, Object... parameters) {
    return query(
        handle,
        sql,
        rows -> {
          List<T> all = new ArrayList<>();
          while (rows.next()) {
            all.add(reader.read(rows));
          }
          return all;
        },
        parameters);
  }

  private static <T> T query(Handle handle, String sql, RowReader<T> reader, Object... parameters) {
    try (PreparedStatement statement = handle.getConnection().prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        bind(statement, i + 1, parameters[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        return reader.read(rows);
      }
    } catch (SQLException failure) {
      throw failed(failure);
    }
  }

  /** A statement without parameters and without a result. */
  static void execute(Handle handle, String sql) {
    try (Statement statement = handle.getConnection().createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw failed(failure);
    }
  }

  /**
   * Changes rows.
   *
   * @param sql with parameters as {@code :name}
   * @param values by name; may hold more than are used
   * @return how many rows
   */
  static int update(Handle handle, String sql, Map<String, @Nullable Object> values) {
    Named named = PARSED.computeIfAbsent(sql, Sql::parse);
    try (PreparedStatement statement =
        handle.getConnection().prepareStatement(named.positional())) {
      for (int i = 0; i < named.names().size(); i++) {
        bind(statement, i + 1, values.get(named.names().get(i)));
      }
      return statement.executeUpdate();
    } catch (SQLException failure) {
      throw failed(failure);
    }
  }

  /** Names are letters and underscores after a colon; our SQL has colons nowhere else. */
  private static Named parse(String sql) {
    StringBuilder positional = new StringBuilder(sql.length());
    List<String> names = new ArrayList<>();
    for (int at = 0; at < sql.length(); at++) {
      if (sql.charAt(at) != ':') {
        positional.append(sql.charAt(at));
        continue;
      }
      int end = at + 1;
      while (end < sql.length()
          && (Character.isLetter(sql.charAt(end)) || sql.charAt(end) == '_')) {
        end++;
      }
      names.add(sql.substring(at + 1, end));
      positional.append('?');
      at = end - 1;
    }
    return new Named(positional.toString(), List.copyOf(names));
  }

  /** An instant as UTC, whatever the machine's time zone. */
  private static void bind(PreparedStatement statement, int index, @Nullable Object value)
      throws SQLException {
    switch (value) {
      case String text -> statement.setString(index, text);
      case Instant instant -> statement.setObject(index, instant.atOffset(ZoneOffset.UTC));
      case Integer number -> statement.setInt(index, number);
      case Long number -> statement.setLong(index, number);
      case null, default -> statement.setObject(index, value);
    }
  }

  /** Whoever logs it names only kind and code, see {@link Storage#rootMessage}. */
  private static IllegalStateException failed(SQLException failure) {
    return new IllegalStateException("a statement of the ledger failed", failure);
  }
}
