package dev.blackbox.ledger;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.LedgerFacts.TrimmedSession;
import dev.blackbox.ledger.LedgerFacts.TrimmedTurn;
import dev.blackbox.ledger.TrimmedContent.Gap;
import dev.blackbox.turn.TurnKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Rows of what was trimmed. Applied to rows that have the session and to rows that never had it,
 * the fact leaves the same.
 */
final class TrimRows {

  private static final String TRIMMED =
      """
      INSERT INTO trimmed (session_key, session_id, instance_id, state, turns, reason, content,
        trimmed_at)
      VALUES (:session_key, :session_id, :instance_id, :state, :turns, :reason, :content, :at)\
      """;

  /** In the order that their references ask for. */
  private static final List<String> DELETES =
      List.of(
          "DELETE FROM model_call WHERE session_key = :session_key",
          "DELETE FROM turn WHERE session_key = :session_key",
          "DELETE FROM command WHERE session_key = :session_key",
          "DELETE FROM session WHERE session_key = :session_key");

  private static final String GAP_BEFORE =
      """
      SELECT first_sequence, last_sequence, hash FROM gap
      WHERE first_sequence = (SELECT MAX(first_sequence) FROM gap WHERE first_sequence <= ?)\
      """;

  private static final String GAP_AT =
      "SELECT first_sequence, last_sequence, hash FROM gap WHERE first_sequence = ?";

  private TrimRows() {}

  static void apply(Handle handle, Fact.SessionTrimmed fact, Map<String, @Nullable Object> values) {
    Sql.update(handle, TRIMMED, values);
    for (String delete : DELETES) {
      Sql.update(handle, delete, values);
    }
    TrimmedContent content = TrimmedContent.of(fact.content());
    for (long binding : content.bindings()) {
      Sql.update(handle, "DELETE FROM binding WHERE binding_key = :key", Map.of("key", binding));
    }
    content.gaps().forEach(gap -> remove(handle, gap));
  }

  private static void remove(Handle handle, Gap gap) {
    Map<String, @Nullable Object> range = new LinkedHashMap<>();
    range.put("first", gap.first());
    range.put("last", gap.last().sequence());
    Sql.update(handle, "DELETE FROM event WHERE sequence BETWEEN :first AND :last", range);
    Optional<Gap> before =
        holding(handle, gap.first() - 1)
            .filter(found -> found.last().sequence() == gap.first() - 1);
    Optional<Gap> after = at(handle, gap.last().sequence() + 1);
    before.ifPresent(found -> delete(handle, found));
    after.ifPresent(found -> delete(handle, found));
    Chain last = after.map(Gap::last).orElse(gap.last());
    range.put("first", before.map(Gap::first).orElse(gap.first()));
    range.put("last", last.sequence());
    range.put("hash", last.hashBytes());
    Sql.update(
        handle,
        "INSERT INTO gap (first_sequence, last_sequence, hash) VALUES (:first, :last, :hash)",
        range);
  }

  private static void delete(Handle handle, Gap gap) {
    Sql.update(
        handle, "DELETE FROM gap WHERE first_sequence = :first", Map.of("first", gap.first()));
  }

  /** The gap that this event went with. */
  static Optional<Gap> holding(Handle handle, long sequence) {
    return Sql.first(handle, GAP_BEFORE, TrimRows::gap, sequence)
        .filter(gap -> gap.holds(sequence));
  }

  private static Optional<Gap> at(Handle handle, long first) {
    return Sql.first(handle, GAP_AT, TrimRows::gap, first);
  }

  private static Gap gap(ResultSet row) throws SQLException {
    return new Gap(row.getLong(1), Chain.at(row.getLong(2), row.getBytes(3)));
  }

  static long count(Handle handle) {
    return Rows.number(handle, "SELECT COUNT(*) FROM trimmed");
  }

  private static final String SESSION =
      "SELECT session_key, session_id, instance_id, state, turns, trimmed_at, reason FROM trimmed ";

  /** The newest of this name, if no later one of that name is kept. */
  static Optional<TrimmedSession> session(Handle handle, SessionId id) {
    return Sql.first(
        handle,
        SESSION
            + """
            WHERE session_id = ? AND session_key = (SELECT MAX(k) FROM (
              SELECT MAX(session_key) AS k FROM trimmed WHERE session_id = ?
              UNION ALL SELECT MAX(session_key) FROM session WHERE session_id = ?))\
            """,
        TrimRows::session,
        id.value(),
        id.value(),
        id.value());
  }

  static Optional<TrimmedSession> session(Handle handle, long sessionKey) {
    return Sql.first(handle, SESSION + "WHERE session_key = ?", TrimRows::session, sessionKey);
  }

  private static TrimmedSession session(ResultSet row) throws SQLException {
    return new TrimmedSession(
        row.getLong("session_key"),
        new SessionId(row.getString("session_id")),
        new InstanceId(row.getString("instance_id")),
        row.getString("state"),
        row.getInt("turns"),
        Rows.instant(row, "trimmed_at"),
        row.getString("reason"));
  }

  static Optional<TrimmedTurn> turn(Handle handle, TurnKey turn) {
    return Sql.first(
            handle,
            "SELECT content FROM trimmed WHERE session_key = ?",
            row -> TrimmedContent.of(row.getString(1)),
            turn.sessionKey())
        .flatMap(content -> content.turn(turn.turnId()));
  }

  /** A session whose facts the journal has still. */
  record ToErase(long sessionKey, TrimmedContent content) {}

  /** In the order in which they were trimmed, which is that of their keys, at most so many. */
  static List<ToErase> toErase(Handle handle, int countMax) {
    return Sql.list(
        handle,
        """
        SELECT session_key, content FROM trimmed WHERE to_erase = 1
        ORDER BY session_key LIMIT ?\
        """,
        row -> new ToErase(row.getLong(1), TrimmedContent.of(row.getString(2))),
        countMax);
  }
}
