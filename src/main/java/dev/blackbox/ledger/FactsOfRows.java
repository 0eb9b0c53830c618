package dev.blackbox.ledger;

import dev.blackbox.ledger.FactCodec.Shape;
import dev.blackbox.ledger.LedgerFacts.Event;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** The records of the journal, as the rows of a database that is verified have them. */
record FactsOfRows(Database database) {

  private static final int EVENTS_PER_PAGE = 200;

  /** In order, from the first fact on. */
  void forEach(JournalReader.Sink sink) throws IOException, LedgerRefusedException {
    Chain end = Chain.START;
    while (true) {
      Chain from = end;
      List<JournalRecord> page = database.read(handle -> page(handle, from));
      if (page.isEmpty()) {
        return;
      }
      for (JournalRecord fact : page) {
        if (fact.isGap()) {
          sink.gap(fact);
        } else {
          sink.accept(fact);
        }
        end = fact.after();
      }
    }
  }

  private static List<JournalRecord> page(Handle handle, Chain from) {
    List<Event> events =
        Rows.events(handle, from.sequence() + 1, EVENTS_PER_PAGE)
            .map((row, _) -> Rows.event(row))
            .list();
    List<JournalRecord> records = new java.util.ArrayList<>();
    Chain before = from;
    for (Event event : events) {
      if (event.sequence() != before.sequence() + 1) {
        // The rows are verified: what is not there was trimmed.
        TrimmedContent.Gap gap = TrimRows.holding(handle, before.sequence() + 1).orElseThrow();
        records.add(JournalRecord.gap(before.sequence() + 1, gap.last()));
        before = gap.last();
      }
      // Everything before it was safe long ago.
      records.add(
          new JournalRecord(
              event.sequence(), before.sequence(), before.hash(), encoded(handle, event)));
      before = new Chain(event.sequence(), event.hash());
    }
    return records;
  }

  private static FactCodec.Encoded encoded(Handle handle, Event event) {
    Map<String, @Nullable Object> head = Json.object(event.headJson());
    Shape shape = FactCodec.shape(head.get("type")).orElseThrow();
    List<String> names = shape.bodies().stream().filter(name -> head.get(name) != null).toList();
    if (names.isEmpty()) {
      return new FactCodec.Encoded(event.headJson(), List.of());
    }
    Map<String, String> stored = Verification.stored(handle, shape, head);
    List<String> bodies =
        names.stream().map(name -> Objects.requireNonNull(stored.get(name), name)).toList();
    return new FactCodec.Encoded(event.headJson(), bodies);
  }
}
