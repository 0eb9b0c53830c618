package dev.blackbox.control;

import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Json;

/**
 * How many messages of a session's history come from one turn: only answered turns are part of it.
 */
final class MessageCounts {

  private MessageCounts() {}

  static int of(TurnSnapshot turn) {
    return turn.settlement()
        .map(TurnSnapshot.Settlement::outcome)
        .filter(TurnOutcome.Committed.class::isInstance)
        .map(
            outcome ->
                Json.array(turn.requestJson()).size()
                    + Json.array(outcome.work().outputsJson()).size())
        .orElse(0);
  }
}
