package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.ledger.LedgerFacts.CallRecord;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Work;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settles what the boots before left open. */
final class Recovery {

  private Recovery() {}

  static LedgerFacts.Recovered recover(Batch batch, long boot, long factsApplied) {
    List<TurnSnapshot> active = Rows.activeTurns(batch.rows());
    int interrupted = 0;
    int queued = 0;
    for (TurnSnapshot turn : active) {
      if (turn.state() == TurnState.QUEUED) {
        queued++;
      } else if (turn.startedByBoot().orElse(0) < boot) {
        TurnVerbs.settle(batch, turn.key(), unknown(batch, boot, turn));
        interrupted++;
      }
    }
    return new LedgerFacts.Recovered(
        interrupted, commands(batch, boot), calls(batch, boot), queued, factsApplied);
  }

  private static TurnOutcome unknown(Batch batch, long boot, TurnSnapshot turn) {
    List<CallRecord> calls = CallRows.calls(batch.rows(), turn.key());
    long startedBy = turn.startedByBoot().orElse(0);
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    details.put("session_id", turn.sessionId().value());
    details.put("turn_id", turn.key().turnId().value());
    details.put("started_by_boot", startedBy);
    details.put("found_by_boot", boot);
    details.put("model_calls", calls.size());
    details.put("phase", "inflight");
    String progress =
        calls.isEmpty()
            ? "No model call is recorded"
            : calls.size()
                + (calls.size() == 1 ? " model call is" : " model calls are")
                + " recorded, the last at step "
                + calls.getLast().start().step();
    TurnError error =
        new TurnError(
            ErrorCode.SERVER_RESTARTED,
            "The server ended while this turn was running: boot "
                + startedBy
                + " started it, boot "
                + boot
                + " found it. The agent may have seen the prompt. "
                + progress
                + ". What the agent did is not known, and the turn is not run again.",
            details);
    return new TurnOutcome.Unknown(error, Work.NONE);
  }

  private record OpenCommand(long number, long sessionKey) {}

  private static int commands(Batch batch, long boot) {
    List<OpenCommand> open =
        Sql.list(
            batch.rows(),
            """
            SELECT command_number, session_key FROM command
            WHERE open_command = 1 AND started_by_boot < ? ORDER BY command_number\
            """,
            row -> new OpenCommand(row.getLong(1), row.getLong(2)),
            boot);
    for (OpenCommand command : open) {
      batch.record(
          new Fact.CommandInterrupted(batch.now(), command.number, command.sessionKey, boot));
    }
    return open.size();
  }

  /** Called before this boot passes on any call, so every open one is of a boot before. */
  private static int calls(Batch batch, long boot) {
    List<CallRecord> open = CallRows.openCalls(batch.rows());
    for (CallRecord call : open) {
      batch.record(
          new Fact.CallInterrupted(
              batch.now(),
              call.start().callId(),
              call.start().turn().sessionKey(),
              call.start().turn().turnId().value(),
              boot));
    }
    return open.size();
  }
}
