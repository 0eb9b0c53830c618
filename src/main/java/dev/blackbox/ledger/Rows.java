package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** Rows as values: for reads, and for the verbs in their open transaction. */
final class Rows {

  private static final String TURN =
      """
      SELECT t.session_key, t.turn_id, s.session_id, s.instance_id, s.backend_type, t.state,
        t.fingerprint, t.request, t.cancel_requested, t.created_at, t.updated_at,
        t.queued_by_boot, t.started_by_boot, t.turn_number, t.session_state, t.outputs, t.trace,
        t.backend_session_id, t.total_tokens, t.input_tokens, t.output_tokens,
        t.reasoning_tokens, t.steps, t.tool_calls, t.error_code, t.error_message,
        t.error_details
      FROM turn t JOIN session s ON s.session_key = t.session_key
      """;

  private static final String SESSION =
      """
      SELECT s.session_key, s.session_id, s.instance_id, s.runtime_id, s.backend_type, s.state,
        s.desync_reason, s.abort_reason, s.backend_session_id, s.generated_turn_id,
        s.explicit_turn_ids, s.committed_turns, s.created_at, s.updated_at,
        b.system_prompt_file, b.system_prompt_text
      FROM session s JOIN binding b ON b.binding_key = s.opening_binding_key
      """;

  /** By MAX, which H2 takes from the index; ordering downwards would sort the whole table. */
  private static final String NEWEST_EVENT =
      "SELECT * FROM event WHERE sequence = (SELECT MAX(sequence) FROM event)";

  private Rows() {}

  static Chain applied(Handle handle) {
    return Sql.first(
            handle, NEWEST_EVENT, row -> Chain.at(row.getLong("sequence"), row.getBytes("hash")))
        .orElse(Chain.START);
  }

  static Instant newestTime(Handle handle) {
    return Sql.first(handle, NEWEST_EVENT, row -> instant(row, "at")).orElse(Instant.EPOCH);
  }

  /** The next free number of a table: its primary key is that column. */
  static long nextNumber(Handle handle, String table, String column) {
    return number(handle, "SELECT COALESCE(MAX(" + column + "), 0) + 1 FROM " + table);
  }

  static long number(Handle handle, String query) {
    return Sql.first(handle, query, row -> row.getLong(1)).orElseThrow();
  }

  static Optional<SessionSnapshot> session(Handle handle, long sessionKey) {
    return Sql.first(handle, SESSION + "WHERE s.session_key = ?", Rows::session, sessionKey);
  }

  static Optional<SessionSnapshot> session(Handle handle, SessionId id) {
    return Sql.first(
        handle,
        SESSION
            + """
            WHERE s.session_key = (SELECT MAX(session_key) FROM session WHERE session_id = ?)\
            """,
        Rows::session,
        id.value());
  }

  static Optional<TurnSnapshot> turn(Handle handle, TurnKey key) {
    return Sql.first(
        handle,
        TURN + "WHERE t.session_key = ? AND t.turn_id = ?",
        Rows::turn,
        key.sessionKey(),
        key.turnId().value());
  }

  static Optional<String> metadataJson(Handle handle, TurnKey key) {
    return Sql.first(
        handle,
        "SELECT metadata FROM turn WHERE session_key = ? AND turn_id = ?",
        row -> row.getString("metadata"),
        key.sessionKey(),
        key.turnId().value());
  }

  static Optional<TurnSnapshot> activeTurn(Handle handle, long sessionKey) {
    return Sql.first(handle, TURN + "WHERE t.active_session_key = ?", Rows::turn, sessionKey);
  }

  static Optional<TurnSnapshot> latestTurn(Handle handle, long sessionKey) {
    return handle
        .createQuery(
            TURN
                + """
                WHERE t.session_key = :key AND t.turn_id =
                  (SELECT latest_turn_id FROM session WHERE session_key = :key)\
                """)
        .bind("key", sessionKey)
        .map((row, _) -> turn(row))
        .findOne();
  }

  /** A turn with its number. */
  record Numbered(int number, TurnSnapshot turn) {}

  static Optional<Numbered> turnAfter(Handle handle, long sessionKey, int number) {
    return handle
        .createQuery(
            TURN
                + """
                WHERE t.session_key = :key AND t.turn_number > :number
                ORDER BY t.session_key, t.turn_number LIMIT 1\
                """)
        .bind("key", sessionKey)
        .bind("number", number)
        .map((row, _) -> new Numbered(row.getInt("turn_number"), turn(row)))
        .findOne();
  }

  /** All turns that are queued or in flight; at most one per session. */
  static List<TurnSnapshot> activeTurns(Handle handle) {
    // A range, because H2 finds it in the index; IS NOT NULL would read every turn. By itself,
    // because H2 may begin a join with the sessions, and then reads every turn of each.
    return Sql.list(
            handle,
            """
            SELECT active_session_key FROM turn WHERE active_session_key >= 0
            ORDER BY active_session_key\
            """,
            row -> row.getLong(1))
        .stream()
        .flatMap(session -> activeTurn(handle, session).stream())
        .toList();
  }

  /** The open binding with the ledger's own number of it. */
  record KeyedBinding(long bindingKey, LedgerFacts.OpenBinding open) {}

  static Optional<KeyedBinding> openBinding(Handle handle) {
    return Sql.first(
        handle,
        """
        SELECT b.*, c.content FROM binding b JOIN config c ON c.config_hash = b.config_hash
        WHERE b.open_slot = 1\
        """,
        Rows::binding);
  }

  static LedgerFacts.Event event(ResultSet row) throws SQLException {
    Chain link = Chain.at(row.getLong("sequence"), row.getBytes("hash"));
    return new LedgerFacts.Event(
        link.sequence(),
        instant(row, "at"),
        row.getString("type"),
        optionalLong(row, "session_key"),
        optionalString(row, "turn_id").map(TurnId::new),
        row.getString("head"),
        link.hash());
  }

  static Query events(Handle handle, long fromSequence, int countMax) {
    return handle
        .createQuery("SELECT * FROM event WHERE sequence >= :from ORDER BY sequence LIMIT :count")
        .bind("from", fromSequence)
        .bind("count", countMax);
  }

  /** A row of {@link #SESSION}, by position: H2 makes a map of the names for each result. */
  private static SessionSnapshot session(ResultSet row) throws SQLException {
    SessionState state = SessionState.ofWireName(row.getString(6));
    @Nullable String reason =
        switch (state) {
          case ACTIVE -> "";
          case DESYNCED -> row.getString(7);
          case ABORTED -> row.getString(8);
        };
    return new SessionSnapshot(
        row.getLong(1),
        new SessionId(row.getString(2)),
        new InstanceId(row.getString(3)),
        row.getString(4),
        row.getString(5),
        state,
        reason == null ? "" : reason,
        Optional.ofNullable(row.getString(9)),
        prompt(row.getString(15), row.getString(16)),
        Optional.ofNullable(row.getString(10)).map(TurnId::new),
        row.getBoolean(11),
        row.getInt(12),
        row.getObject(13, OffsetDateTime.class).toInstant(),
        row.getObject(14, OffsetDateTime.class).toInstant());
  }

  private static Optional<SessionSnapshot.SystemPrompt> prompt(
      @Nullable String file, @Nullable String text) {
    return text == null
        ? Optional.empty()
        : Optional.of(new SessionSnapshot.SystemPrompt(file == null ? "" : file, text));
  }

  /** A row of {@link #TURN}, by position. */
  private static TurnSnapshot turn(ResultSet row) throws SQLException {
    TurnState state = TurnState.ofWireName(row.getString(6));
    long startedByBoot = row.getLong(13);
    boolean started = !row.wasNull();
    return new TurnSnapshot(
        new TurnKey(row.getLong(1), new TurnId(row.getString(2))),
        new SessionId(row.getString(3)),
        new InstanceId(row.getString(4)),
        row.getString(5),
        state,
        row.getString(7),
        row.getString(8),
        row.getBoolean(9),
        state.isSettled() ? Optional.of(settlement(state, row)) : Optional.empty(),
        row.getObject(10, OffsetDateTime.class).toInstant(),
        row.getObject(11, OffsetDateTime.class).toInstant(),
        row.getLong(12),
        started ? OptionalLong.of(startedByBoot) : OptionalLong.empty());
  }

  private static TurnSnapshot.Settlement settlement(TurnState state, ResultSet row)
      throws SQLException {
    Usage usage =
        new Usage(
            row.getLong(19),
            row.getLong(20),
            row.getLong(21),
            row.getLong(22),
            row.getLong(23),
            row.getLong(24));
    Work work = new Work(row.getString(16), row.getString(17), usage, row.getString(18));
    TurnOutcome outcome =
        switch (state) {
          case COMMITTED -> new TurnOutcome.Committed(work);
          case FAILED -> new TurnOutcome.Failed(error(row), work);
          case CANCELLED -> new TurnOutcome.Cancelled(error(row), work);
          case UNKNOWN -> new TurnOutcome.Unknown(error(row), work);
          case QUEUED, INFLIGHT -> throw new IllegalStateException("not settled: " + state);
        };
    return new TurnSnapshot.Settlement(outcome, SessionState.ofWireName(row.getString(15)));
  }

  private static TurnError error(ResultSet row) throws SQLException {
    return new TurnError(
        ErrorCode.valueOf(row.getString(25).toUpperCase(Locale.ROOT)),
        row.getString(26),
        Json.object(row.getString(27)));
  }

  private static KeyedBinding binding(ResultSet row) throws SQLException {
    long sessionKey = row.getLong("session_key");
    LedgerFacts.Binding binding =
        new LedgerFacts.Binding(
            row.getString("runtime_id"),
            row.getString("backend_type"),
            row.getString("fingerprint"),
            row.getString("parameters_json"),
            row.getString("config_hash"),
            row.getString("content"),
            row.getString("view_json"),
            new SessionId(row.getString("session_id")),
            new InstanceId(row.getString("instance_id")),
            row.getInt("proxy_port"),
            prompt(row.getString("system_prompt_file"), row.getString("system_prompt_text")),
            OptionalLong.of(sessionKey));
    LedgerFacts.Pause pause =
        new LedgerFacts.Pause(
            row.getBoolean("paused"),
            row.getString("pause_reason"),
            optionalString(row, "model_version"));
    return new KeyedBinding(
        row.getLong("binding_key"),
        new LedgerFacts.OpenBinding(
            binding,
            sessionKey,
            row.getString("state"),
            row.getString("state_reason"),
            pause,
            instant(row, "opened_at")));
  }

  static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  static Optional<Instant> optionalInstant(ResultSet row, String column) throws SQLException {
    @Nullable OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return Optional.ofNullable(time).map(OffsetDateTime::toInstant);
  }

  static Optional<String> optionalString(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getString(column));
  }

  static OptionalLong optionalLong(ResultSet row, String column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(value);
  }

  static OptionalInt optionalInt(ResultSet row, String column) throws SQLException {
    int value = row.getInt(column);
    return row.wasNull() ? OptionalInt.empty() : OptionalInt.of(value);
  }
}
