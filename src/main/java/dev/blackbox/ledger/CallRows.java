package dev.blackbox.ledger;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.TurnKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/** Rows of model calls as values. */
final class CallRows {

  private static final String CALL = "SELECT * FROM model_call ";

  private CallRows() {}

  static List<LedgerFacts.CallRecord> calls(Handle handle, TurnKey key) {
    return handle
        .createQuery(
            CALL + "WHERE session_key = :key AND turn_id = :id ORDER BY step, arrived_at, call_id")
        .bind("key", key.sessionKey())
        .bind("id", key.turnId().value())
        .map((row, _) -> call(row))
        .list();
  }

  static Optional<LedgerFacts.CallRecord> namedCall(Handle handle, String callId) {
    return Sql.first(handle, CALL + "WHERE call_id = ?", CallRows::call, callId);
  }

  static List<LedgerFacts.CallRecord> openCalls(Handle handle) {
    return Sql.list(handle, CALL + "WHERE open_call = 1 ORDER BY call_id", CallRows::call);
  }

  /** The turn of a call that has not ended. */
  static Optional<TurnKey> turnOfOpenCall(Handle handle, String callId) {
    return Sql.first(
        handle,
        "SELECT session_key, turn_id FROM model_call WHERE call_id = ? AND open_call = 1",
        row -> new TurnKey(row.getLong(1), new TurnId(row.getString(2))),
        callId);
  }

  private static LedgerFacts.CallRecord call(ResultSet row) throws SQLException {
    LedgerFacts.CallStarted start =
        new LedgerFacts.CallStarted(
            row.getString("call_id"),
            new TurnKey(row.getLong("session_key"), new TurnId(row.getString("turn_id"))),
            row.getInt("step"),
            row.getString("dialect"),
            row.getBoolean("stream"),
            row.getString("model"),
            row.getLong("request_bytes"),
            Rows.instant(row, "arrived_at"),
            Rows.optionalString(row, "purpose").orElse(""),
            Rows.optionalString(row, "retry_of"),
            Rows.optionalString(row, "retry_as"));
    Optional<Instant> endedAt = Rows.optionalInstant(row, "ended_at");
    return new LedgerFacts.CallRecord(
        start, endedAt.isEmpty() ? Optional.empty() : Optional.of(callEnd(row, endedAt.get())));
  }

  private static LedgerFacts.CallEnded callEnd(ResultSet row, Instant endedAt) throws SQLException {
    return new LedgerFacts.CallEnded(
        row.getString("call_id"),
        row.getInt("status"),
        row.getString("verdict"),
        Rows.optionalInstant(row, "first_byte_at"),
        endedAt,
        row.getLong("response_bytes"),
        Rows.optionalLong(row, "prompt_tokens"),
        Rows.optionalLong(row, "completion_tokens"),
        Rows.optionalLong(row, "reasoning_tokens"),
        Rows.optionalLong(row, "cached_tokens"),
        row.getInt("tool_calls"),
        Rows.optionalString(row, "finish_reason"),
        Rows.optionalString(row, "error"),
        row.getInt("retries"),
        Rows.optionalInstant(row, "sent_at"),
        Rows.optionalString(row, "request_hash"),
        Rows.optionalString(row, "response_hash"),
        Rows.optionalString(row, "tokens_from").isPresent(),
        Rows.optionalString(row, "capture"));
  }
}
