package dev.blackbox.control;

import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.wire.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The place of a turn in its caller's trace (W3C Trace Context), which the control door put into
 * the turn's metadata; so it is still known after a restart.
 */
final class TurnTrace {

  /** Section 3.3.1.5: what must be passed on at least. */
  private static final int LENGTH_MAX = 512;

  private TurnTrace() {}

  /** As headers of the turn's model calls; empty if there is none. */
  static Map<String, String> of(LedgerReads reads, TurnKey turn) {
    Map<String, @Nullable Object> metadata = Json.object(reads.metadataJson(turn));
    Map<String, String> trace = new LinkedHashMap<>();
    for (String name : List.of("traceparent", "tracestate")) {
      // Callers may put what they like there.
      if (metadata.get(name) instanceof String value
          && !value.isEmpty()
          && value.length() <= LENGTH_MAX
          && value.chars().allMatch(c -> c >= ' ' && c < 0x7F)) {
        trace.put(name, value);
      }
    }
    return trace.containsKey("traceparent") ? trace : Map.of();
  }
}
