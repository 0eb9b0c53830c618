package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.Work;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows are a function of the journal: after a crash they are the same again. */
class RebuildTest {

  @TempDir Path temp;

  @Test
  void p2RowsRebuiltFromTheJournalEqualTheRowsThatWereThere() throws Exception {
    Path first = temp.resolve("first");
    Path second = temp.resolve("second");
    Path third = temp.resolve("third");
    Map<String, List<String>> before;
    try (Ledger ledger = Ledgers.open(first)) {
      firstBoot(ledger);
      Ledgers.journalOnly(first, second);
      Ledgers.journalOnly(first, third);
    }
    try (Ledger ledger = Ledgers.open(second)) {
      secondBoot(ledger);
      before = Ledgers.dump(second);
      assertThat(typesOf(ledger))
          .isEqualTo(
              allTypesBut("boot_ended", "command_started", "session_trimmed", "session_erased"));
      Ledgers.journalOnly(second, third);
    }
    try (Ledger ledger = Ledgers.open(third)) {
      assertThat(ledger.boot()).isEqualTo(3);
      assertThat(withoutLastBoot(Ledgers.dump(third))).isEqualTo(before);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  /** Every verb, with work left open at the end. */
  static void firstBoot(Ledger ledger) {
    ledger.recover();
    LedgerFacts.Bound bound = ledger.bind(Ledgers.binding("sess-1", OptionalLong.empty()));
    long session = bound.sessionKey();
    ledger.bindingState(bound.runtimeId(), "error", "agent ended with 137");
    ledger.pause(bound.runtimeId(), new LedgerFacts.Pause(true, "weights", Optional.of("v2")));
    ledger.backendSession(session, "ses_0");
    Ledgers.runTurn(ledger, session, "turn-1");
    TurnKey failed = Ledgers.key(session, "turn-2");
    ledger.admit(Ledgers.admit(session, "turn-2", "grüße 😀"));
    ledger.requestCancel(failed);
    ledger.settle(
        failed,
        new TurnOutcome.Cancelled(
            new TurnError(ErrorCode.CANCELLED, "Turn was cancelled.", Map.of("turn_id", "turn-2")),
            Work.NONE));
    ledger.processStarted(new LedgerFacts.ProcessStart("agent", 77, 1234, "machine-boot"));
    ledger.processEnded(new LedgerFacts.ProcessEnd(77, 1234, "machine-boot", 137));
    long command = Ledgers.command(ledger, session, "c-1");
    ledger.beginCommand(command);
    ledger.endCommand(
        command, LedgerFacts.CommandEnd.ended(OptionalInt.of(0), false, "{\"stdout\":\"hi\"}"));
    ledger.beginCommand(Ledgers.command(ledger, session, "c-2"));
    ledger.endCommand(
        Ledgers.command(ledger, session, "c-3"),
        LedgerFacts.CommandEnd.without(
            CommandState.FAILED, new TurnError(ErrorCode.CONFLICT, "too late", Map.of("a", 1))));
    Ledgers.command(ledger, session, "c-4");
    TurnKey open = Ledgers.key(session, "turn-3");
    ledger.admit(Ledgers.admit(session, "turn-3", "left open"));
    ledger.start(open);
    ledger.note(call("call-1", open, 0));
    ledger.note(callEnd("call-1"));
    ledger.note(call("call-2", open, 1));
    ledger.note(
        new LedgerFacts.CallRefused(
            OptionalLong.of(session),
            Optional.of(new TurnId("turn-3")),
            "unknown_route",
            "GET",
            "/v1/models",
            Instant.parse("2026-01-01T00:00:00.5Z")));
    // A verb, so that the notes before it are committed.
    ledger.processStarted(new LedgerFacts.ProcessStart("agent", 78, 1, "machine-boot"));
  }

  /** Recovers what the first boot left, goes on with its session, and ends it. */
  static void secondBoot(Ledger ledger) {
    ledger.recover();
    LedgerFacts.OpenBinding open = ledger.reads().openBinding().orElseThrow();
    ledger.bind(Ledgers.binding("sess-1", OptionalLong.of(open.sessionKey())));
    ledger.abort(open.sessionKey(), "controller gave up");
    ledger.unbind("rt-sess-1", "shutdown");
  }

  static LedgerFacts.CallStarted call(String id, TurnKey turn, int step) {
    return new LedgerFacts.CallStarted(
        id,
        turn,
        step,
        "chat",
        true,
        "qwen",
        321,
        Instant.parse("2026-01-01T00:00:00.000001Z"),
        "main",
        Optional.of("c-0"),
        Optional.of("again"));
  }

  static LedgerFacts.CallEnded callEnd(String id) {
    Instant end = Instant.parse("2026-01-01T00:00:01Z");
    return new LedgerFacts.CallEnded(
        id,
        200,
        "truncated",
        Optional.of(end.minusMillis(100)),
        end,
        4096,
        OptionalLong.of(11),
        OptionalLong.of(7),
        OptionalLong.empty(),
        OptionalLong.of(3),
        1,
        Optional.of("tool_calls"),
        Optional.of("the stream ended early"),
        2,
        Optional.of(end.minusMillis(200)),
        Optional.of("ab".repeat(32)),
        Optional.empty(),
        true,
        Optional.of("wanted"));
  }

  private static Set<String> typesOf(Ledger ledger) {
    return ledger.reads().events(1, 1000).stream()
        .map(LedgerFacts.Event::type)
        .collect(Collectors.toSet());
  }

  private static Set<String> allTypesBut(String... types) {
    return FactCodec.SHAPES.stream()
        .map(FactCodec.Shape::type)
        .filter(each -> !List.of(types).contains(each))
        .collect(Collectors.toSet());
  }

  static Map<String, List<String>> withoutLastBoot(Map<String, List<String>> dump) {
    Map<String, List<String>> without = new HashMap<>(dump);
    for (String table : List.of("boot", "event")) {
      List<String> rows = new ArrayList<>(dump.get(table));
      rows.removeLast();
      without.put(table, rows);
    }
    return without;
  }
}
