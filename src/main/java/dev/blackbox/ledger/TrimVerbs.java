package dev.blackbox.ledger;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerFacts.Event;
import dev.blackbox.ledger.LedgerFacts.TrimmedTurn;
import dev.blackbox.ledger.TrimmedContent.Gap;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jdbi.v3.core.Handle;

/**
 * Trims the oldest session that nothing needs any more. Kept are: the session of the newest binding
 * the newest session and that of the newest command, since numbers go on from theirs, and every one
 * with a turn, command or model call that has not ended, or with a binding that is open.
 */
final class TrimVerbs {

  private static final System.Logger LOG = System.getLogger(TrimVerbs.class.getName());

  /** A larger session is kept: removing it would hold up the writer for seconds. */
  static final int TURNS_MAX = 10_000;

  private static final int EVENTS_PER_PAGE = 500;

  /** Facts that name a binding, and no session. */
  private static final Set<String> OF_BINDINGS =
      Set.of("binding_state_changed", "binding_closed", "pause_changed");

  /** Facts about a session that have no row which could go, or come after it went. */
  private static final Set<String> STAY =
      Set.of("call_refused", "session_trimmed", "session_erased");

  private static final String OLDEST =
      """
      SELECT s.session_key FROM session s
      WHERE s.session_key < (SELECT MAX(session_key) FROM session)
        AND s.updated_at < ? AND s.turn_count <= ?
        AND s.session_key <>
          (SELECT session_key FROM binding
            WHERE binding_key = (SELECT MAX(binding_key) FROM binding))
        AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.active_session_key = s.session_key)
        AND NOT EXISTS (SELECT 1 FROM command c
          WHERE c.open_command = 1 AND c.session_key = s.session_key)
        AND NOT EXISTS (SELECT 1 FROM model_call m
          WHERE m.open_call = 1 AND m.session_key = s.session_key)
        AND NOT EXISTS (SELECT 1 FROM binding b
          WHERE b.open_slot = 1 AND b.session_key = s.session_key)
        AND NOT EXISTS (SELECT 1 FROM command c
          WHERE c.session_key = s.session_key
            AND c.command_number = (SELECT MAX(command_number) FROM command))
      ORDER BY s.session_key LIMIT 1\
      """;

  /**
   * The bindings of a session. They lie between its first and its newest one, which its row has;
   * without that each trimming would read all that there are.
   */
  private static final String OF_SESSION =
      """
       FROM binding WHERE session_key = ? AND binding_key BETWEEN
         (SELECT opening_binding_key FROM session WHERE session_key = ?)
         AND (SELECT binding_key FROM session WHERE session_key = ?)\
      """;

  private TrimVerbs() {}

  /**
   * Trims one session.
   *
   * @param unchangedSince only if it has not changed since
   * @param reason see {@link Fact.SessionTrimmed}
   * @return its key; empty if there is none
   */
  static OptionalLong oldest(Batch batch, Instant unchangedSince, String reason) {
    Optional<Long> found =
        Sql.first(
            batch.rows(),
            OLDEST,
            row -> row.getLong(1),
            OffsetDateTime.ofInstant(unchangedSince, ZoneOffset.UTC),
            TURNS_MAX);
    if (found.isEmpty()) {
      return OptionalLong.empty();
    }
    long key = found.get();
    SessionSnapshot session = TurnVerbs.session(batch, key);
    TrimmedContent content = content(batch.rows(), key);
    batch.record(
        new Fact.SessionTrimmed(
            batch.now(),
            key,
            session.id().value(),
            session.instanceId().value(),
            session.state().wireName(),
            content.turns().size(),
            reason,
            content.json()));
    LOG.log(
        System.Logger.Level.INFO,
        "session {0} was trimmed: {1} turns, {2} facts, because of its {3}",
        session.id().value(),
        content.turns().size(),
        content.facts(),
        reason);
    return OptionalLong.of(key);
  }

  static void erased(Batch batch, long sessionKey) {
    batch.record(new Fact.SessionErased(batch.now(), sessionKey));
  }

  private static TrimmedContent content(Handle rows, long key) {
    List<Long> bindings =
        Sql.list(
            rows,
            "SELECT binding_key" + OF_SESSION + " ORDER BY binding_key",
            row -> row.getLong(1),
            key,
            key,
            key);
    List<TrimmedTurn> turns =
        Sql.list(
            rows,
            """
            SELECT turn_id, state, fingerprint FROM turn WHERE session_key = ?
            ORDER BY turn_number\
            """,
            row ->
                new TrimmedTurn(
                    new TurnId(row.getString(1)),
                    TurnState.ofWireName(row.getString(2)),
                    Fingerprints.sha256Hex(row.getString(3).getBytes(StandardCharsets.UTF_8))),
            key);
    return new TrimmedContent(bindings, gaps(rows, key, Set.copyOf(bindings)), turns);
  }

  /**
   * The facts of a session. All have a time between those of its rows, as times never go back; but
   * model calls have the proxy's times in their rows, so the facts of those are counted.
   */
  private static List<Gap> gaps(Handle rows, long key, Set<Long> bindings) {
    Instant from =
        time(rows, "SELECT MIN(opened_at)" + OF_SESSION, key, key, key).orElse(Instant.EPOCH);
    Instant to =
        time(
                rows,
                """
                SELECT MAX(at) FROM (
                  SELECT updated_at AS at FROM session WHERE session_key = ?
                  UNION ALL SELECT MAX(ended_at) FROM command WHERE session_key = ?
                  UNION ALL SELECT MAX(closed_at)\
                """
                    + OF_SESSION
                    + ")",
                key,
                key,
                key,
                key,
                key)
            .orElse(Instant.MAX);
    long callFacts =
        2
            * Sql.first(
                    rows,
                    "SELECT COUNT(*) FROM model_call WHERE session_key = ?",
                    row -> row.getLong(1),
                    key)
                .orElseThrow();
    List<Gap> gaps = new ArrayList<>();
    long next = firstAt(rows, from);
    while (true) {
      List<Event> page =
          Rows.events(rows, next, EVENTS_PER_PAGE).map((row, _) -> Rows.event(row)).list();
      for (Event event : page) {
        if (event.at().isAfter(to) && callFacts <= 0) {
          return gaps;
        }
        if (isOf(event, key, bindings)) {
          add(gaps, event);
          callFacts -= event.type().startsWith("call_") ? 1 : 0;
        }
        next = event.sequence() + 1;
      }
      if (page.isEmpty()) {
        return gaps;
      }
    }
  }

  private static boolean isOf(Event event, long key, Set<Long> bindings) {
    if (OF_BINDINGS.contains(event.type())) {
      return Json.object(event.headJson()).get("binding_key") instanceof Number binding
          && bindings.contains(binding.longValue());
    }
    return event.sessionKey().equals(OptionalLong.of(key)) && !STAY.contains(event.type());
  }

  private static void add(List<Gap> gaps, Event event) {
    Chain link = new Chain(event.sequence(), event.hash());
    boolean continues = !gaps.isEmpty() && gaps.getLast().last().sequence() == event.sequence() - 1;
    long first = continues ? gaps.removeLast().first() : event.sequence();
    gaps.add(new Gap(first, link));
  }

  /** The first event that is not before this time: times rise with numbers. */
  private static long firstAt(Handle rows, Instant time) {
    long low = 1;
    long high = Rows.applied(rows).sequence();
    while (low < high) {
      long middle = (low + high) >>> 1;
      Optional<Instant> at =
          Sql.first(
              rows,
              "SELECT at FROM event WHERE sequence >= ? ORDER BY sequence LIMIT 1",
              row -> Rows.instant(row, "at"),
              middle);
      if (at.isPresent() && at.get().isBefore(time)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static Optional<Instant> time(Handle rows, String sql, Object... parameters) {
    return Sql.first(
            rows,
            sql,
            row -> Optional.ofNullable(row.getObject(1, OffsetDateTime.class)),
            parameters)
        .flatMap(found -> found)
        .map(OffsetDateTime::toInstant);
  }
}
