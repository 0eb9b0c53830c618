package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.wire.Json;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Rows of shell commands as values. */
final class CommandRows {

  private static final String COMMAND =
      """
      SELECT c.*, s.session_id, s.instance_id
      FROM command c JOIN session s ON s.session_key = c.session_key
      """;

  private CommandRows() {}

  static Optional<CommandSnapshot> named(Handle handle, long sessionKey, CommandId id) {
    return handle
        .createQuery(COMMAND + "WHERE c.session_key = :key AND c.command_id = :id")
        .bind("key", sessionKey)
        .bind("id", id.value())
        .map((row, _) -> command(row, true))
        .findOne();
  }

  static Optional<CommandSnapshot> numbered(Handle handle, long number) {
    return handle
        .createQuery(COMMAND + "WHERE c.command_number = :number")
        .bind("number", number)
        .map((row, _) -> command(row, true))
        .findOne();
  }

  static List<CommandSnapshot> queued(Handle handle, long sessionKey) {
    return handle
        .createQuery(
            COMMAND
                + """
                WHERE c.open_command = 1 AND c.started_at IS NULL AND c.session_key = :key
                ORDER BY c.command_number\
                """)
        .bind("key", sessionKey)
        .map((row, _) -> command(row, true))
        .list();
  }

  static List<CommandSnapshot> page(
      Handle handle, long sessionKey, long afterNumber, int countMax) {
    return handle
        .createQuery(
            COMMAND
                + """
                WHERE c.session_key = :key AND c.command_number > :after
                ORDER BY c.command_number LIMIT :count\
                """)
        .bind("key", sessionKey)
        .bind("after", afterNumber)
        .bind("count", countMax)
        .map((row, _) -> command(row, false))
        .list();
  }

  /** Commands of a session that wait or run. */
  static long open(Handle handle, long sessionKey) {
    return handle
        .createQuery("SELECT COUNT(*) FROM command WHERE open_command = 1 AND session_key = :key")
        .bind("key", sessionKey)
        .mapTo(Long.class)
        .one();
  }

  private static CommandSnapshot command(ResultSet row, boolean withResult) throws SQLException {
    CommandState state = state(row);
    Optional<String> result =
        withResult
            ? Rows.optionalString(row, "result").filter(text -> !text.isEmpty())
            : Optional.empty();
    SessionId session = new SessionId(row.getString("session_id"));
    Optional<CommandId> id = Rows.optionalString(row, "command_id").map(CommandId::new);
    Optional<String> error = Rows.optionalString(row, "error");
    boolean queuedFirst = row.getObject("queued_at") != null;
    String created = queuedFirst ? "queued_at" : "started_at";
    String updated =
        switch (state) {
          case QUEUED -> created;
          case RUNNING -> "started_at";
          case ENDED, FAILED, CANCELLED, INTERRUPTED -> "ended_at";
        };
    return new CommandSnapshot(
        row.getLong("command_number"),
        row.getLong("session_key"),
        session,
        new InstanceId(row.getString("instance_id")),
        id,
        Rows.optionalString(row, "fingerprint").orElse(""),
        row.getString("command"),
        row.getDouble("timeout_seconds"),
        state,
        result,
        state == CommandState.INTERRUPTED
            ? Optional.of(interrupted(row, session, id))
            : error.map(CommandRows::error),
        Rows.instant(row, created),
        Rows.instant(row, updated));
  }

  private static CommandState state(ResultSet row) throws SQLException {
    if (row.getObject("ended_at") == null) {
      return row.getObject("started_at") == null ? CommandState.QUEUED : CommandState.RUNNING;
    }
    return row.getBoolean("interrupted")
        ? CommandState.INTERRUPTED
        : CommandState.ofWireName(Rows.optionalString(row, "state").orElse("ended"));
  }

  private static TurnError interrupted(ResultSet row, SessionId session, Optional<CommandId> id)
      throws SQLException {
    long startedBy = row.getLong("started_by_boot");
    Map<String, @Nullable Object> details = details(session, id);
    details.put("started_by_boot", startedBy);
    Rows.optionalLong(row, "found_by_boot").ifPresent(boot -> details.put("found_by_boot", boot));
    return new TurnError(
        ErrorCode.SERVER_RESTARTED,
        "The server ended while this command was running: boot "
            + startedBy
            + " started it. What it did is not known, and it is not run again.",
        details);
  }

  static Map<String, @Nullable Object> details(SessionId session, Optional<CommandId> id) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    details.put("session_id", session.value());
    id.ifPresent(name -> details.put("command_id", name.value()));
    return details;
  }

  static String json(TurnError error) {
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    tree.put("error", error.code().wireName());
    tree.put("message", error.message());
    tree.put("details", error.details());
    return Json.write(tree);
  }

  private static TurnError error(String json) {
    Map<String, @Nullable Object> tree = Json.object(json);
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    if (tree.get("details") instanceof Map<?, ?> stored) {
      stored.forEach((name, value) -> details.put(String.valueOf(name), value));
    }
    return new TurnError(
        ErrorCode.valueOf(String.valueOf(tree.get("error")).toUpperCase(Locale.ROOT)),
        String.valueOf(tree.get("message")),
        details);
  }
}
