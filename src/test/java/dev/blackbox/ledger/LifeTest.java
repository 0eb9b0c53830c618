package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.LedgerFacts.CallRecord;
import dev.blackbox.ledger.LedgerFacts.CommandEnd;
import dev.blackbox.ledger.LedgerFacts.OpenBinding;
import dev.blackbox.ledger.LedgerFacts.Pause;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bindings, pauses, commands, processes and calls; and what a later boot makes of them. */
class LifeTest {

  @TempDir Path temp;

  @Test
  void p6ARestartSettlesWhatWasRunningAndKeepsWhatWasQueued() throws Exception {
    Path crashed = temp.resolve("crashed");
    long running;
    long waiting;
    try (Ledger ledger = Ledgers.open(temp.resolve("state"))) {
      running = Ledgers.session(ledger, "sess-1");
      TurnKey turn = Ledgers.key(running, "t-1");
      ledger.beginCommand(Ledgers.command(ledger, running, "c-1"));
      Ledgers.command(ledger, running, "c-2");
      ledger.admit(Ledgers.admit(running, "t-1", "one"));
      ledger.start(turn);
      ledger.note(RebuildTest.call("call-1", turn, 0));
      ledger.note(RebuildTest.callEnd("call-1"));
      ledger.note(RebuildTest.call("call-2", turn, 1));
      waiting = Ledgers.session(ledger, "sess-2");
      ledger.admit(Ledgers.admit(waiting, "t-1", "one"));
      Ledgers.journalOnly(temp.resolve("state"), crashed);
    }
    try (Ledger ledger = Ledgers.open(crashed)) {
      LedgerFacts.Recovered recovered = ledger.recover();
      assertThat(recovered.turnsInterrupted()).isEqualTo(1);
      assertThat(recovered.commandsInterrupted()).isEqualTo(1);
      assertThat(recovered.callsInterrupted()).isEqualTo(1);
      assertThat(recovered.turnsQueued()).isEqualTo(1);
      assertThat(recovered.factsApplied()).isEqualTo(16);
      isUnknown(ledger, ledger.reads().turn(Ledgers.key(running, "t-1")).orElseThrow());
      assertThat(ledger.nextQueued(waiting)).isPresent();
      assertThat(ledger.start(Ledgers.key(waiting, "t-1"))).isTrue();
      TurnSnapshot started = ledger.reads().activeTurn(waiting).orElseThrow();
      assertThat(started.queuedByBoot()).isEqualTo(1);
      assertThat(started.startedByBoot()).hasValue(2);
      List<CallRecord> calls = ledger.reads().calls(Ledgers.key(running, "t-1"));
      assertThat(calls).hasSize(2);
      assertThat(calls.get(0).end()).contains(RebuildTest.callEnd("call-1"));
      assertThat(calls.get(1).end().orElseThrow().verdict()).isEqualTo("interrupted");
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  private static void isUnknown(Ledger ledger, TurnSnapshot turn) {
    assertThat(turn.state()).isEqualTo(TurnState.UNKNOWN);
    TurnSnapshot.Settlement settlement = turn.settlement().orElseThrow();
    assertThat(settlement.sessionState()).isEqualTo(SessionState.DESYNCED);
    TurnError error = ((TurnOutcome.Unknown) settlement.outcome()).error();
    assertThat(error.code()).isEqualTo(ErrorCode.SERVER_RESTARTED);
    assertThat(error.message())
        .contains("boot 1 started it", "boot 2 found it", "may have seen the prompt")
        .contains("2 model calls are recorded, the last at step 1");
    assertThat(error.details())
        .isEqualTo(
            Map.of(
                "session_id",
                "sess-1",
                "turn_id",
                "t-1",
                "started_by_boot",
                1,
                "found_by_boot",
                2,
                "model_calls",
                2,
                "phase",
                "inflight"));
    SessionSnapshot session = ledger.reads().session(turn.key().sessionKey()).orElseThrow();
    assertThat(session.state()).isEqualTo(SessionState.DESYNCED);
    assertThat(session.stateReason()).isEqualTo(error.message());
  }

  @Test
  void aBindingIsFoundAgainWithItsPauseAndItsSession() throws Exception {
    Path state = temp.resolve("state");
    long session;
    LedgerFacts.Binding asked = Ledgers.binding("sess-1", OptionalLong.empty());
    try (Ledger ledger = Ledgers.open(state)) {
      assertThat(ledger.reads().openBinding()).isEmpty();
      assertThat(ledger.reads().lastProxyPort()).isEmpty();
      session = ledger.bind(asked).sessionKey();
      ledger.pause(asked.runtimeId(), new Pause(true, "weights", Optional.of("v7")));
      ledger.bindingState(asked.runtimeId(), "error", "agent died");
      ledger.bindingState("rt-of-old", "error", "not open any more");
      ledger.backendSession(session, "ses_42");
    }
    try (Ledger ledger = Ledgers.open(state)) {
      OpenBinding open = ledger.reads().openBinding().orElseThrow();
      assertThat(open.binding())
          .usingRecursiveComparison()
          .ignoringFields("continues")
          .isEqualTo(asked);
      assertThat(open.sessionKey()).isEqualTo(session);
      assertThat(open.state()).isEqualTo("error");
      assertThat(open.stateReason()).isEqualTo("agent died");
      assertThat(open.pause()).isEqualTo(new Pause(true, "weights", Optional.of("v7")));
      assertThat(ledger.reads().lastProxyPort()).contains(4711);

      assertThat(ledger.bind(Ledgers.binding("sess-1", OptionalLong.of(session))).sessionKey())
          .isEqualTo(session);
      OpenBinding again = ledger.reads().openBinding().orElseThrow();
      assertThat(again.state()).isEqualTo("ready");
      assertThat(again.pause()).as("still paused").isEqualTo(open.pause());
      assertThat(ledger.reads().session(new SessionId("sess-1")).orElseThrow().backendSessionId())
          .contains("ses_42");
      assertThat(ledger.reads().sessionCounts()).isEqualTo(new LedgerFacts.SessionCounts(1, 0, 0));

      assertThat(ledger.unbind(asked.runtimeId(), "shutdown")).isTrue();
      assertThat(ledger.unbind(asked.runtimeId(), "shutdown")).isFalse();
      assertThat(ledger.reads().openBinding()).isEmpty();
    }
  }

  @Test
  void aNameUsedAgainIsANewSession() throws Exception {
    try (Ledger ledger = Ledgers.open(temp.resolve("state"))) {
      long first = Ledgers.session(ledger, "sess-1");
      Ledgers.runTurn(ledger, first, "t-1");
      ledger.pause("rt-sess-1", new Pause(true, "weights", Optional.empty()));
      long second = Ledgers.session(ledger, "sess-1");
      assertThat(second).isNotEqualTo(first);
      assertThat(ledger.reads().session(new SessionId("sess-1")).orElseThrow().key())
          .isEqualTo(second);
      assertThat(ledger.reads().openBinding().orElseThrow().pause()).isEqualTo(Pause.NONE);
      assertThat(ledger.reads().turn(Ledgers.key(second, "t-1"))).isEmpty();
      assertThat(ledger.reads().turn(Ledgers.key(first, "t-1"))).isPresent();
    }
  }

  @Test
  void p7ProcessesOfEarlierBootsAreLeftUntilTheyAreKnownToHaveEnded() throws Exception {
    Path state = temp.resolve("state");
    try (Ledger ledger = Ledgers.open(state)) {
      ledger.processStarted(new LedgerFacts.ProcessStart("agent", 100, 7, "machine"));
      ledger.processStarted(new LedgerFacts.ProcessStart("command", 101, 8, "machine"));
      assertThat(ledger.processEnded(new LedgerFacts.ProcessEnd(101, 8, "machine", 0))).isTrue();
      assertThat(ledger.processEnded(new LedgerFacts.ProcessEnd(101, 8, "machine", 0))).isFalse();
      assertThat(ledger.reads().leftProcesses()).isEmpty();
    }
    try (Ledger ledger = Ledgers.open(state)) {
      ledger.processStarted(new LedgerFacts.ProcessStart("agent", 100, 9, "machine"));
      assertThat(ledger.reads().leftProcesses())
          .containsExactly(new LedgerFacts.LeftProcess(1, "agent", 100, 7, "machine"));
      ledger.processEnded(new LedgerFacts.ProcessEnd(100, 7, "machine", 137));
      assertThat(ledger.reads().leftProcesses()).isEmpty();
    }
  }

  @Test
  void abortingSettlesTheActiveTurnAndLaterOutcomesChangeNothing() throws Exception {
    try (Ledger ledger = Ledgers.open(temp.resolve("state"))) {
      long session = Ledgers.session(ledger, "sess-1");
      TurnKey turn = Ledgers.key(session, "t-1");
      ledger.admit(Ledgers.admit(session, "t-1", "one"));
      ledger.start(turn);
      assertThat(ledger.requestCancel(turn).cancelRequested()).isTrue();
      assertThat(ledger.abort(session, "controller gave up")).isTrue();
      TurnSnapshot stands = ledger.settle(turn, Ledgers.committed("too late"));
      TurnSnapshot.Settlement settlement = stands.settlement().orElseThrow();
      assertThat(settlement.sessionState()).isEqualTo(SessionState.ABORTED);
      TurnError error = ((TurnOutcome.Unknown) settlement.outcome()).error();
      assertThat(error.code()).isEqualTo(ErrorCode.ABORTED);
      assertThat(error.details()).containsEntry("session_id", "sess-1").containsKey("turn_id");
      assertThat(ledger.reads().latestTurn(session)).contains(stands);
      assertThat(ledger.reads().session(session).orElseThrow().committedTurns()).isZero();
      assertThat(ledger.requestCancel(turn)).isEqualTo(stands);
    }
  }

  @Test
  void commandsAndCallsAreRecordedAndTheFirstEndStands() throws Exception {
    Path state = temp.resolve("state");
    try (Ledger ledger = Ledgers.open(state)) {
      long session = Ledgers.session(ledger, "sess-1");
      assertThat(Ledgers.command(ledger, session, "c-1")).isEqualTo(1);
      assertThat(Ledgers.command(ledger, session, "c-2")).isEqualTo(2);
      assertThat(ledger.beginCommand(1)).isTrue();
      assertThat(ledger.beginCommand(1)).as("for one caller only").isFalse();
      ledger.endCommand(1, CommandEnd.ended(OptionalInt.of(0), false, "{\"a\":1}"));
      assertThat(ledger.endCommand(1, CommandEnd.ended(OptionalInt.of(9), true, "{\"b\":1}")))
          .extracting(CommandSnapshot::resultJson)
          .isEqualTo(Optional.of("{\"a\":1}"));
      TurnKey turn = Ledgers.key(session, "t-1");
      ledger.admit(Ledgers.admit(session, "t-1", "one"));
      ledger.start(turn);
      ledger.note(RebuildTest.call("call-1", turn, 0));
      ledger.note(RebuildTest.callEnd("call-1"));
      ledger.note(RebuildTest.callEnd("call-1"));
      ledger.note(RebuildTest.callEnd("call-of-nobody"));
      // P8: a call of a turn that does not exist cannot be recorded, and hurts nobody else.
      ledger.note(RebuildTest.call("call-2", Ledgers.key(session, "t-none"), 0));
      ledger.settle(turn, Ledgers.committed("done"));
      assertThat(ledger.reads().calls(turn))
          .containsExactly(
              new CallRecord(
                  RebuildTest.call("call-1", turn, 0), Optional.of(RebuildTest.callEnd("call-1"))));
      assertThat(Ledgers.dump(state).get("command"))
          .hasSize(2)
          .first()
          .asString()
          .contains("RETURN_CODE=0", "RESULT={\"a\":1}");
      assertThat(ledger.reads().events(1, 100))
          .filteredOn(event -> event.type().equals("call_ended"))
          .singleElement()
          .satisfies(
              event -> {
                assertThat(event.sessionKey()).hasValue(session);
                assertThat(event.turnId()).contains(turn.turnId());
              });
    }
  }

  @Test
  void timesNeverGoBackEvenIfTheClockDoes() throws Exception {
    Path state = temp.resolve("state");
    Instant[] now = {Instant.parse("2030-01-01T00:00:00.0000019Z")};
    try (Ledger ledger = Ledger.open(Ledgers.config(state), Ledgers.BOOT, () -> now[0])) {
      now[0] = now[0].minusSeconds(3600);
      Ledgers.session(ledger, "sess-1");
    }
    try (Ledger ledger = Ledger.open(Ledgers.config(state), Ledgers.BOOT, () -> now[0])) {
      assertThat(ledger.reads().events(1, 100))
          .hasSizeGreaterThan(4)
          .extracting(LedgerFacts.Event::at)
          .containsOnly(Instant.parse("2030-01-01T00:00:00.000001Z"));
    }
  }
}
