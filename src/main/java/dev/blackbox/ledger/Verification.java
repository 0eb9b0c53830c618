package dev.blackbox.ledger;

import dev.blackbox.ledger.FactCodec.Shape;
import dev.blackbox.ledger.LedgerFacts.ChainReport;
import dev.blackbox.ledger.LedgerFacts.Event;
import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Checks the whole history (P11): that every event is the next link of the chain, that every body
 * is what its event says, and that the last event is the newest fact that the writer made safe.
 * Reads page by page, so that memory stays flat and other reads go on.
 */
final class Verification {

  private static final int EVENTS_PER_PAGE = 200;

  /** After so many the rest is only counted. */
  private static final int PROBLEMS_MAX = 100;

  private static final int ATTEMPTS_MAX = 5;

  private final List<String> problems = new ArrayList<>();
  private long problemsNotListed;
  private long events;
  private long eventsGone;
  private long eventsTrimmed;
  private Chain end = Chain.START;

  /** Once more if sessions were trimmed meanwhile: what was read before and after does not fit. */
  static ChainReport run(LedgerReadsPort reads, Supplier<Chain> safe) {
    for (int attempt = 1; ; attempt++) {
      int before = reads.read(handle -> (int) TrimRows.count(handle));
      ChainReport report = new Verification().run(reads, safe.get());
      int after = reads.read(handle -> (int) TrimRows.count(handle));
      if (before == after || report.problems().isEmpty() || attempt == ATTEMPTS_MAX) {
        return report;
      }
    }
  }

  /**
   * @param safe the newest fact that was safe before the check began
   */
  ChainReport run(LedgerReadsPort reads, Chain safe) {
    while (reads.read(this::page) > 0) {
      // Each page moves the end on.
    }
    if (end.sequence() < safe.sequence()) {
      problem(end.sequence() + 1, "events are missing from here to " + safe.sequence());
    }
    if (eventsGone != eventsTrimmed) {
      problem(
          end.sequence(),
          eventsGone + " events are gone, but the sessions that were trimmed had " + eventsTrimmed);
    }
    if (problemsNotListed > 0) {
      problems.add("and " + problemsNotListed + " more");
    }
    return new ChainReport(
        events, events == 0 ? 0 : 1, eventsGone, end.sequence(), end.hash(), List.copyOf(problems));
  }

  /** How a page is read. */
  interface LedgerReadsPort {
    int read(Function<Handle, Integer> page);
  }

  private int page(Handle handle) {
    List<Event> page =
        Rows.events(handle, end.sequence() + 1, EVENTS_PER_PAGE)
            .map((row, _) -> Rows.event(row))
            .list();
    for (Event event : page) {
      link(handle, event);
      bodies(handle, event);
      events++;
    }
    return page.size();
  }

  private void link(Handle handle, Event event) {
    if (event.sequence() != end.sequence() + 1) {
      TrimRows.holding(handle, end.sequence() + 1).ifPresent(gap -> goOnBehind(gap, event));
    }
    if (event.sequence() != end.sequence() + 1) {
      problem(end.sequence() + 1, "events are missing from here to " + (event.sequence() - 1));
    }
    Chain expected = new Chain(event.sequence() - 1, end.hash()).next(event.headJson());
    if (!expected.hash().equals(event.hash())) {
      problem(event.sequence(), "the hash does not continue the chain");
    }
    // Goes on from what is stored, so that one change is one problem and not all that follow.
    end = new Chain(event.sequence(), event.hash());
  }

  private void goOnBehind(TrimmedContent.Gap gap, Event next) {
    if (gap.last().sequence() < next.sequence()) {
      eventsGone += gap.last().sequence() - end.sequence();
      end = gap.last();
    }
  }

  /** What went with this session must be gone, and the chain go on from where it says. */
  private void trimmed(Handle handle, Event event, @Nullable String content) {
    if (content == null) {
      return;
    }
    for (TrimmedContent.Gap gap : TrimmedContent.of(content).gaps()) {
      TrimmedContent.Gap found = TrimRows.holding(handle, gap.first()).orElse(null);
      boolean ends = found != null && found.last().sequence() == gap.last().sequence();
      if (found == null
          || found.last().sequence() < gap.last().sequence()
          || (ends && !found.last().equals(gap.last()))) {
        problem(event.sequence(), "the chain does not go on behind event " + gap.last().sequence());
      }
      eventsTrimmed += gap.count();
    }
  }

  private void bodies(Handle handle, Event event) {
    Map<String, @Nullable Object> head;
    try {
      head = Json.object(event.headJson());
    } catch (IllegalStateException damaged) {
      problem(event.sequence(), "the head is not JSON");
      return;
    }
    Optional<Shape> shape = FactCodec.shape(head.get("type"));
    if (shape.isEmpty()) {
      problem(event.sequence(), "unknown type " + head.get("type"));
      return;
    }
    List<String> names =
        shape.get().bodies().stream().filter(name -> head.get(name) != null).toList();
    if (names.isEmpty()) {
      return;
    }
    Map<String, String> stored = stored(handle, shape.get(), head);
    if (event.type().equals("session_trimmed")) {
      trimmed(handle, event, stored.get("content"));
    }
    for (String name : names) {
      String body = stored.get(name);
      if (body == null) {
        problem(event.sequence(), name + " is missing from " + shape.get().home().table());
      } else if (!FactCodec.digest(body).equals(head.get(name))) {
        problem(event.sequence(), name + " in " + shape.get().home().table() + " was changed");
      }
    }
  }

  /** The bodies that are there, by name. */
  static Map<String, String> stored(
      Handle handle, Shape shape, Map<String, @Nullable Object> head) {
    FactCodec.Home home = shape.home();
    String where =
        home.key().stream().map(key -> key + " = :" + key).collect(Collectors.joining(" AND "));
    Query query =
        handle.createQuery(
            "SELECT "
                + String.join(", ", shape.bodies())
                + " FROM "
                + home.table()
                + " WHERE "
                + where);
    home.key().forEach(key -> query.bind(key, head.get(key)));
    return query
        .map(
            (row, _) -> {
              Map<String, String> found = new java.util.HashMap<>();
              for (String name : shape.bodies()) {
                Rows.optionalString(row, name).ifPresent(body -> found.put(name, body));
              }
              return found;
            })
        .findOne()
        .orElseGet(java.util.HashMap::new);
  }

  private void problem(long sequence, String what) {
    if (problems.size() < PROBLEMS_MAX) {
      problems.add("event " + sequence + ": " + what);
    } else {
      problemsNotListed++;
    }
  }
}
