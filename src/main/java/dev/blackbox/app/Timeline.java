package dev.blackbox.app;

import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Timestamps;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/** Prints events of the ledger for people, one line each. */
enum Timeline {
  /** Every field. */
  FULL,
  /** What tells the story. */
  BRIEF;

  private static final Set<String> STORY =
      Set.of(
          "boot",
          "pid",
          "backend_type",
          "session_id",
          "turn_id",
          "kind",
          "step",
          "status",
          "verdict",
          "finish_reason",
          "state",
          "reason",
          "exit_code",
          "backend_session_id");

  /** Longest value that is shown whole, in UTF-16 units. */
  private static final int VALUE_MAX = 80;

  private static final int PAGE = 1000;

  /** Prints all events from a sequence number on. */
  void print(LedgerReads reads, long from, PrintWriter out) {
    long next = from;
    List<LedgerFacts.Event> events;
    do {
      events = reads.events(next, PAGE);
      for (LedgerFacts.Event event : events) {
        out.println(line(event));
        next = event.sequence() + 1;
      }
    } while (events.size() == PAGE);
    out.flush();
  }

  private String line(LedgerFacts.Event event) {
    return "%6d  %s  %-22s %s"
        .formatted(
            event.sequence(), Timestamps.iso(event.at()), event.type(), details(event.headJson()))
        .stripTrailing();
  }

  /** The fields of a head as {@code name=value}; of a body that it only names, the length. */
  private String details(String headJson) {
    StringJoiner details = new StringJoiner(" ");
    Json.object(headJson)
        .forEach(
            (name, value) -> {
              if (value != null && !value.equals("") && isShown(name)) {
                details.add(name + "=" + shown(value));
              }
            });
    return details.toString();
  }

  private boolean isShown(String name) {
    return switch (this) {
      case FULL -> !name.equals("type") && !name.equals("at");
      case BRIEF -> STORY.contains(name);
    };
  }

  private static String shown(Object value) {
    if (value instanceof Map<?, ?> body && body.containsKey("sha256")) {
      return "(" + body.get("length") + " bytes)";
    }
    String text = value instanceof String string ? string : Json.write(value);
    return text.length() <= VALUE_MAX ? text : text.substring(0, VALUE_MAX) + "…";
  }
}
