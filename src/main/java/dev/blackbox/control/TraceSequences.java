package dev.blackbox.control;

import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Json;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
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

  /** The sequence number that the next trace event of a session gets. */
  static long next(LedgerReads reads, long sessionKey) {
    AtomicLong next = new AtomicLong(1);
    reads.forEachTurn(
        sessionKey,
        turn ->
            turn.settlement()
                .map(TurnSnapshot.Settlement::outcome)
                .ifPresent(
                    outcome ->
                        last(outcome.work().traceJson())
                            .ifPresent(seq -> next.accumulateAndGet(seq + 1, Math::max))));
    return next.get();
  }
}
