package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Old sessions go, by rule; that they were there, and how they ended, stays for ever. */
class TrimTest {

  private static final int SESSIONS = 12;

  @TempDir Path temp;

  private Path state() {
    return temp.resolve("state");
  }

  private LedgerConfig config(Path directory, Retention retention) {
    return new LedgerConfig(directory, Sync.PROCESS, 64, 6000, Duration.ofMillis(10), 2)
        .keeping(retention);
  }

  private Ledger opened(Path directory, Retention retention) throws LedgerRefusedException {
    return Ledgers.open(
        config(directory, retention), Ledgers.BOOT, JournalFiles.in(directory.toAbsolutePath()));
  }

  private static String name(long session) {
    return "sess-" + session;
  }

  /** A session with two turns, model calls, a pause and a command. */
  private static long session(Ledger ledger, String name) {
    LedgerFacts.Bound bound = ledger.bind(Ledgers.binding(name, OptionalLong.empty()));
    long session = bound.sessionKey();
    for (int i = 1; i <= 2; i++) {
      String id = "t-" + i;
      TurnKey key = Ledgers.key(session, id);
      ledger.admit(Ledgers.admit(session, id, (name + " ").repeat(200)));
      ledger.start(key);
      ledger.note(RebuildTest.call(name + "-call-" + i, key, 0));
      ledger.note(RebuildTest.callEnd(name + "-call-" + i));
      ledger.settle(key, Ledgers.committed((id + " ").repeat(300)));
    }
    ledger.pause(bound.runtimeId(), new LedgerFacts.Pause(true, "weights", Optional.of("v2")));
    long command = Ledgers.command(ledger, session, "c-1");
    ledger.beginCommand(command);
    ledger.endCommand(
        command, LedgerFacts.CommandEnd.ended(OptionalInt.of(0), false, "{\"stdout\":\"hi\"}"));
    return session;
  }

  /** Every session but the newest is too large for this. */
  private static final Retention ONE_BYTE = new Retention(1, Duration.ZERO);

  private static void awaitTrimmed(Ledger ledger, int sessions) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              // Begins segments, so that the ones before can be erased.
              ledger.backendSession(sessions + 1, "ses_" + System.nanoTime() + "x".repeat(7000));
              return ledger.reads().trimmed(new SessionId(name(sessions))).isPresent()
                  && erased(ledger) == sessions;
            });
  }

  private static long erased(Ledger ledger) {
    return ledger.reads().events(1, 100_000).stream()
        .filter(event -> event.type().equals("session_erased"))
        .count();
  }

  private Map<String, List<String>> filledAndTrimmed() throws Exception {
    try (Ledger ledger = opened(state(), ONE_BYTE)) {
      for (int i = 1; i <= SESSIONS; i++) {
        assertThat(session(ledger, name(i))).isEqualTo(i);
      }
      awaitTrimmed(ledger, SESSIONS - 1);
    }
    return Ledgers.dump(state());
  }

  @Test
  void p2p11WhatWasTrimmedIsGoneAndNeverRunsAgain() throws Exception {
    filledAndTrimmed();
    try (Ledger ledger = opened(state(), Retention.ALL)) {
      LedgerReads reads = ledger.reads();
      for (int i = 1; i < SESSIONS; i++) {
        assertThat(reads.session(i)).isEmpty();
        assertThat(reads.session(new SessionId(name(i)))).isEmpty();
        LedgerFacts.TrimmedSession left = reads.trimmed(new SessionId(name(i))).orElseThrow();
        assertThat(left.turns()).isEqualTo(2);
        assertThat(left.reason()).isEqualTo("size");
        LedgerFacts.TrimmedTurn turn = reads.trimmed(Ledgers.key(i, "t-1")).orElseThrow();
        assertThat(turn.state()).isEqualTo(TurnState.COMMITTED);
        assertThat(reads.trimmed(Ledgers.key(i, "t-3"))).isEmpty();
        int session = i;
        long before = reads.verify().lastSequence();
        for (String id : List.of("t-1", "t-new")) {
          assertThatThrownBy(
                  () -> ledger.admit(Ledgers.admit(session, id, (name(session) + " ").repeat(200))))
              .isInstanceOfSatisfying(
                  Problem.class, gone -> assertThat(gone.code()).isEqualTo(ErrorCode.GONE));
          assertThat(ledger.start(Ledgers.key(session, id))).isFalse();
        }
        assertThat(reads.verify().lastSequence()).isEqualTo(before);
      }
      assertThat(reads.session(SESSIONS)).isPresent();
      LedgerFacts.ChainReport report = reads.verify();
      assertThat(report.problems()).isEmpty();
      assertThat(report.eventsTrimmed()).isGreaterThan(SESSIONS * 10L);
      assertThat(report.events() + report.eventsTrimmed()).isEqualTo(report.lastSequence());
    }
  }

  @Test
  void p11TheJournalWithoutTheirFactsGivesTheSameRows() throws Exception {
    Map<String, List<String>> rows = filledAndTrimmed();
    StringBuilder journal = new StringBuilder();
    JournalReader reader = new JournalReader(JournalFiles.in(state()), state());
    reader.replay(
        Chain.START,
        Long.MAX_VALUE,
        fact -> journal.append(fact.fact().head()).append(fact.fact().bodies()));
    assertThat(journal).doesNotContain("sess-1 sess-1", "rt-sess-1\"").contains("sess-12 sess-12");
    Path copy = Ledgers.journalOnly(state(), temp.resolve("copy"));
    try (Ledger ledger = Ledgers.open(copy)) {
      assertThat(RebuildTest.withoutLastBoot(Ledgers.dump(copy))).isEqualTo(rows);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void p11BackupRepairAndCheckKnowOfThem() throws Exception {
    filledAndTrimmed();
    Path backup = temp.resolve("backup");
    LedgerFiles.Copied copied = LedgerFiles.copy(state(), backup);
    try (Ledger ledger = Ledgers.open(backup)) {
      assertThat(ledger.reads().verify().problems()).isEmpty();
      assertThat(ledger.reads().trimmed(Ledgers.key(1, "t-2"))).isPresent();
    }
    Path damaged = Ledgers.segments(state()).getFirst();
    byte[] bytes = Files.readAllBytes(damaged);
    bytes[bytes.length / 2] ^= 1;
    Files.write(damaged, bytes);
    assertThat(LedgerFiles.repair(state()).getLast())
        .contains("whole up to fact " + copied.facts(), copied.lastHash());
    try (Ledger ledger = Ledgers.open(state())) {
      assertThat(ledger.reads().verify().problems()).isEmpty();
      assertThat(ledger.reads().trimmed(Ledgers.key(1, "t-2"))).isPresent();
    }
  }

  @Test
  void p11MoreThanWasTrimmedIsFound() throws Exception {
    filledAndTrimmed();
    for (String change :
        List.of(
            "DELETE FROM event WHERE type = 'session_erased' AND session_key = 3",
            "UPDATE trimmed SET content = content || ' ' WHERE session_key = 3",
            "UPDATE gap SET last_sequence = last_sequence - 1 WHERE first_sequence ="
                + " (SELECT MIN(first_sequence) FROM gap)",
            "DELETE FROM gap WHERE first_sequence = (SELECT MIN(first_sequence) FROM gap)",
            "DELETE FROM trimmed WHERE session_key = 3")) {
      Path copy = temp.resolve("changed-" + change.hashCode());
      Files.createDirectories(copy);
      for (String file : JournalFiles.in(state()).list()) {
        Files.copy(state().resolve(file), copy.resolve(file));
      }
      Ledgers.sql(copy, change);
      Files.delete(copy.resolve(DatabaseMark.FILE_NAME));
      try (Ledger ledger = Ledgers.open(copy)) {
        assertThat(ledger.reads().verify().problems()).as(change).isNotEmpty();
      }
    }
  }

  @Test
  void aDatabaseFromBeforeTheTrimmingIsMadeAgain() throws Exception {
    try (Ledger ledger = opened(state(), Retention.ALL)) {
      session(ledger, name(1));
    }
    byte[] older = Files.readAllBytes(state().resolve(StateDirectory.DATABASE_FILE));
    try (Ledger ledger = opened(state(), ONE_BYTE)) {
      session(ledger, name(2));
      session(ledger, name(3));
      awaitTrimmed(ledger, 2);
    }
    Map<String, List<String>> rows = Ledgers.dump(state());
    Files.write(state().resolve(StateDirectory.DATABASE_FILE), older);
    Files.delete(state().resolve(DatabaseMark.FILE_NAME));
    try (Ledger ledger = Ledgers.open(state())) {
      assertThat(ledger.putRight().orElseThrow()).contains("made again", "trimmed since");
      assertThat(RebuildTest.withoutLastBoot(Ledgers.dump(state()))).isEqualTo(rows);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void whatIsNeededIsKept() throws Exception {
    try (Ledger ledger = opened(state(), ONE_BYTE)) {
      long unsettled = Ledgers.session(ledger, "unsettled");
      ledger.admit(Ledgers.admit(unsettled, "t-1", "left open"));
      ledger.start(Ledgers.key(unsettled, "t-1"));
      long gone = session(ledger, "gone");
      long newestCommand = session(ledger, "newest-command");
      Ledgers.session(ledger, "newest");
      // The binding goes back to an older session, as after a restart.
      ledger.bind(Ledgers.binding("newest-command", OptionalLong.of(newestCommand)));
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                ledger.desync(unsettled, "x".repeat(7000));
                ledger.backendSession(newestCommand, "ses" + "x".repeat(7000) + System.nanoTime());
                return ledger.reads().session(gone).isEmpty();
              });
      assertThat(ledger.reads().session(unsettled)).isPresent();
      assertThat(ledger.reads().session(newestCommand)).isPresent();
      assertThat(ledger.reads().session(new SessionId("newest"))).isPresent();
      assertThat(ledger.reads().openBinding().orElseThrow().sessionKey()).isEqualTo(newestCommand);
      ledger.recover();
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void p10TheBudgetIsKeptUnderAStreamOfTurns() throws Exception {
    long budget = 250_000;
    try (Ledger ledger = opened(state(), new Retention(budget, Duration.ZERO))) {
      for (int i = 1; i <= 150; i++) {
        session(ledger, name(i));
      }
      long newest = 150;
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                ledger.backendSession(newest, "ses_" + System.nanoTime() + "x".repeat(7000));
                return ledger.reads().trimmed(new SessionId(name(1))).isPresent()
                    && ledger.reads().bytesOnDisk() - databaseBytes() < budget;
              });
      assertThat(ledger.reads().session(150)).isPresent();
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  private long databaseBytes() {
    return state().resolve(StateDirectory.DATABASE_FILE).toFile().length();
  }

  @Test
  void sessionsThatGrewOldAreTrimmed() throws Exception {
    try (Ledger ledger = opened(state(), new Retention(0, Duration.ofMillis(300)))) {
      long old = session(ledger, "old");
      long newest = session(ledger, "newest");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> ledger.reads().session(old).isEmpty());
      LedgerFacts.TrimmedSession left = ledger.reads().trimmed(new SessionId("old")).orElseThrow();
      assertThat(left.reason()).isEqualTo("age");
      assertThat(ledger.reads().session(newest)).isPresent();
    }
  }
}
