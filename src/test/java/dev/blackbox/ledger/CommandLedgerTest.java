package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerFacts.CommandAdmission;
import dev.blackbox.ledger.LedgerFacts.CommandEnd;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.Work;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shell commands in the ledger: admission, beginning, end, and what a crash leaves of them. */
class CommandLedgerTest {

  private static final CommandEnd CANCELLED =
      CommandEnd.without(
          CommandState.CANCELLED, new TurnError(ErrorCode.CANCELLED, "cancelled", Map.of()));

  @TempDir Path temp;

  @Test
  void aKnownIdIsFoundAndAnotherCommandUnderItIsRefusedEvenIfNothingIsAdmitted() throws Exception {
    try (Ledger ledger = open("state")) {
      long session = Ledgers.session(ledger, "sess-1");
      CommandSnapshot first = fresh(ledger, Ledgers.commandAdmit(session, "c-1", "echo hi"));
      assertThat(first.state()).isEqualTo(CommandState.QUEUED);
      assertThat(first.commandId()).contains(new CommandId("c-1"));
      ledger.abort(session, "over");
      CommandSnapshot stands = ledger.reads().command(first.number()).orElseThrow();
      assertThat(ledger.admitCommand(Ledgers.commandAdmit(session, "c-1", "echo hi")))
          .isEqualTo(new CommandAdmission.Known(stands));
      assertThat(refused(ledger, Ledgers.commandAdmit(session, "c-1", "echo ho")).text())
          .contains("Same command_id");
      assertThat(refused(ledger, Ledgers.commandAdmit(session, "c-2", "echo hi")).text())
          .contains("aborted");
      assertThat(ledger.reads().commands(session, 0, 10)).hasSize(1);
    }
  }

  @Test
  void anAbortEndsWhatWaitsAndLeavesWhatRunsToItsRunner() throws Exception {
    try (Ledger ledger = open("state")) {
      long session = Ledgers.session(ledger, "sess-1");
      long running = Ledgers.command(ledger, session, "c-1");
      long waiting = Ledgers.command(ledger, session, "c-2");
      ledger.beginCommand(running);
      ledger.abort(session, "over");
      assertThat(state(ledger, running)).isEqualTo(CommandState.RUNNING);
      assertThat(state(ledger, waiting)).isEqualTo(CommandState.CANCELLED);
      assertThat(ledger.beginCommand(waiting)).isFalse();
      assertThat(ledger.reads().command(waiting).orElseThrow().error().orElseThrow().code())
          .isEqualTo(ErrorCode.ABORTED);
    }
  }

  @Test
  void aCancelWithoutAResultEndsOnlyWhatHasNotBegun() throws Exception {
    try (Ledger ledger = open("state")) {
      long session = Ledgers.session(ledger, "sess-1");
      long running = Ledgers.command(ledger, session, "c-1");
      long waiting = Ledgers.command(ledger, session, "c-2");
      ledger.beginCommand(running);
      assertThat(ledger.endCommand(running, CANCELLED).state()).isEqualTo(CommandState.RUNNING);
      assertThat(ledger.endCommand(waiting, CANCELLED).state()).isEqualTo(CommandState.CANCELLED);
      assertThat(ledger.endCommand(waiting, CommandEnd.ended(OptionalInt.of(0), false, "{}")))
          .as("the first end stands")
          .isEqualTo(ledger.reads().command(waiting).orElseThrow());
      assertThat(ledger.reads().command(waiting).orElseThrow().resultJson()).isEmpty();
    }
  }

  @Test
  void anActiveTurnRefusesNewCommandsButNotTheBeginningOfAcceptedOnes() throws Exception {
    try (Ledger ledger = open("state")) {
      long session = Ledgers.session(ledger, "sess-1");
      long accepted = Ledgers.command(ledger, session, "c-1");
      ledger.admit(Ledgers.admit(session, "t-1", "one"));
      assertThat(refused(ledger, Ledgers.commandAdmit(session, "c-2", "x")).details())
          .containsEntry("active_turn_id", "t-1");
      assertThat(ledger.beginCommand(accepted)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void aDesyncedSessionTakesCommandsAfterTwoFailuresOnly(ErrorCode code) throws Exception {
    try (Ledger ledger = open("state")) {
      long session = Ledgers.session(ledger, "sess-1");
      long before = Ledgers.command(ledger, session, "c-0");
      TurnKey turn = Ledgers.key(session, "t-1");
      ledger.admit(Ledgers.admit(session, "t-1", "one"));
      ledger.start(turn);
      ledger.settle(turn, new TurnOutcome.Unknown(new TurnError(code, "why", Map.of()), Work.NONE));
      boolean harvest =
          List.of(ErrorCode.CONTEXT_OVERFLOW, ErrorCode.MAX_STEPS_EXCEEDED).contains(code);
      assertThat(
              ledger.admitCommand(Ledgers.commandAdmit(session, "c-1", "ls"))
                  instanceof CommandAdmission.Fresh)
          .isEqualTo(harvest);
      assertThat(ledger.beginCommand(before)).as("one that waited").isEqualTo(harvest);
      assertThat(state(ledger, before))
          .isEqualTo(harvest ? CommandState.RUNNING : CommandState.FAILED);
    }
  }

  @Test
  void moreThanTheBoundAreRefusedAndLeaveNoTrace() throws Exception {
    try (Ledger ledger = open("state")) {
      long session = Ledgers.session(ledger, "sess-1");
      for (int i = 0; i < 16; i++) {
        Ledgers.command(ledger, session, "c-" + i);
      }
      long facts = ledger.reads().verify().events();
      assertThat(refused(ledger, Ledgers.commandAdmit(session, "c-16", "x")).code())
          .isEqualTo(ErrorCode.SERVICE_UNAVAILABLE);
      assertThat(ledger.reads().verify().events()).isEqualTo(facts);
      ledger.endCommand(1, CANCELLED);
      fresh(ledger, Ledgers.commandAdmit(session, "c-16", "x"));
    }
  }

  @Test
  void p6ACrashInterruptsWhatRanAndKeepsWhatWaited() throws Exception {
    Path crashed = temp.resolve("crashed");
    long session;
    try (Ledger ledger = open("state")) {
      session = Ledgers.session(ledger, "sess-1");
      ledger.beginCommand(Ledgers.command(ledger, session, "c-1"));
      Ledgers.command(ledger, session, "c-2");
      Ledgers.journalOnly(temp.resolve("state"), crashed);
    }
    try (Ledger ledger = Ledgers.open(crashed)) {
      assertThat(ledger.recover().commandsInterrupted()).isEqualTo(1);
      CommandSnapshot ran = ledger.reads().command(session, new CommandId("c-1")).orElseThrow();
      assertThat(ran.state()).isEqualTo(CommandState.INTERRUPTED);
      TurnError error = ran.error().orElseThrow();
      assertThat(error.code()).isEqualTo(ErrorCode.SERVER_RESTARTED);
      assertThat(error.message()).contains("boot 1", "not run again");
      assertThat(error.details())
          .containsEntry("command_id", "c-1")
          .containsEntry("found_by_boot", 2L);
      assertThat(ledger.admitCommand(Ledgers.commandAdmit(session, "c-1", "echo hi")))
          .isEqualTo(new CommandAdmission.Known(ran));
      assertThat(ledger.beginCommand(ran.number())).isFalse();
      assertThat(ledger.reads().queuedCommands(session))
          .singleElement()
          .satisfies(waiting -> assertThat(ledger.beginCommand(waiting.number())).isTrue());
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aLedgerOfTheFirstSchemaIsMigratedAndItsCommandsAreStillRead() throws Exception {
    Path state = temp.resolve("state");
    long session;
    try (Ledger ledger = open("state")) {
      session = Ledgers.session(ledger, "sess-1");
    }
    Ledgers.sql(
        state,
        """
        DROP INDEX command_by_name;
        ALTER TABLE command DROP COLUMN fingerprint;
        ALTER TABLE command DROP COLUMN queued_at;
        ALTER TABLE command DROP COLUMN queued_by_boot;
        ALTER TABLE command DROP COLUMN state;
        ALTER TABLE command DROP COLUMN error;
        ALTER TABLE command DROP COLUMN found_by_boot;
        ALTER TABLE command ALTER COLUMN started_at SET NOT NULL;
        ALTER TABLE command ALTER COLUMN started_by_boot SET NOT NULL;
        INSERT INTO command (command_number, session_key, command, timeout_seconds, started_by_boot,
          started_at, ended_at, return_code, timed_out, result, interrupted)
        VALUES (1, %1$d, 'echo old', 5, 1, NOW(), NOW(), 0, FALSE, '{"stdout":"old"}', FALSE),
          (2, %1$d, 'sleep 9', 5, 1, NOW(), NOW(), NULL, NULL, NULL, TRUE);
        DELETE FROM ledger_schema WHERE version > 1;
        """
            .formatted(session));
    // That version left no mark; with one the changed file would be made again from the journal.
    Files.delete(state.resolve(DatabaseMark.FILE_NAME));
    try (Ledger ledger = open("state")) {
      assertThat(ledger.reads().command(1).orElseThrow().resultJson())
          .contains("{\"stdout\":\"old\"}");
      assertThat(state(ledger, 1)).isEqualTo(CommandState.ENDED);
      assertThat(state(ledger, 2)).isEqualTo(CommandState.INTERRUPTED);
      assertThat(Ledgers.command(ledger, session, "c-1")).isEqualTo(3);
    }
  }

  private Ledger open(String name) throws LedgerRefusedException {
    return Ledgers.open(temp.resolve(name));
  }

  private static CommandState state(Ledger ledger, long number) {
    return ledger.reads().command(number).orElseThrow().state();
  }

  private static CommandSnapshot fresh(Ledger ledger, LedgerFacts.CommandAdmit admit) {
    return ((CommandAdmission.Fresh) ledger.admitCommand(admit)).command();
  }

  private static Problem refused(Ledger ledger, LedgerFacts.CommandAdmit admit) {
    return ((CommandAdmission.Refused) ledger.admitCommand(admit)).problem();
  }
}
