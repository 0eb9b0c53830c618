package dev.blackbox.control;

import dev.blackbox.wire.Json;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads sequence numbers back from stored traces, so that they go on rising over turns and
 * restarts.
 */
final class TraceSequences {

  private TraceSequences() {}

  /** The last sequence number of a JSON array of trace events; empty if there is none. */
  static OptionalLong last(String traceJson) {
    List<@Nullable Object> events = Json.array(traceJson);
    if (!events.isEmpty()
        && events.getLast() instanceof Map<?, ?> event
        && event.get("seq") instanceof Number seq) {
      return OptionalLong.of(seq.longValue());
    }
    return OptionalLong.empty();
  }
}
