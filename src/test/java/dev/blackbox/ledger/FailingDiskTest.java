package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.FaultyFiles.Operation;
import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.ledger.LedgerFacts.Admission;
import dev.blackbox.ledger.LedgerFacts.Admit;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A disk that fails, and a database that fails. */
@Timeout(60)
@ExtendWith(QuietLog.class)
class FailingDiskTest {

  @TempDir Path temp;

  private final FaultyFiles files = new FaultyFiles();

  private Path state() {
    return temp.resolve("state");
  }

  private Ledger open() throws LedgerRefusedException {
    return Ledgers.open(Ledgers.config(state()), files);
  }

  private static void unavailable(ThrowingCallable verb) {
    assertThatThrownBy(verb)
        .isInstanceOfSatisfying(
            Problem.class,
            problem -> assertThat(problem.code()).isEqualTo(ErrorCode.SERVICE_UNAVAILABLE));
  }

  @ParameterizedTest
  @EnumSource(
      value = Operation.class,
      names = {"APPEND", "FORCE"})
  void p1WhatCouldNotBeWrittenIsNotThereNowAndNotLater(Operation failing) throws Exception {
    Path crashed = temp.resolve("crashed");
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      TurnKey good = Ledgers.runTurn(ledger, session, "t-good");
      TurnKey lost = Ledgers.key(session, "t-lost");

      files.failing.add(failing);
      unavailable(() -> ledger.admit(Ledgers.admit(session, "t-lost", "one")));
      assertThat(ledger.reads().turn(lost)).isEmpty();
      assertThat(ledger.reads().turn(good)).as("reads go on").isPresent();
      assertThat(ledger.admit(Ledgers.admit(session, "t-good", "t-good")))
          .as("replays go on")
          .isEqualTo(new Admission.Known(ledger.reads().turn(good).orElseThrow()));
      // A crash now finds nothing of it either.
      Ledgers.journalOnly(state(), crashed);

      files.failing.clear();
      Awaitility.await()
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(ledger.desync(session, "written again")).isTrue());
      assertThat(ledger.reads().turn(lost)).isEmpty();
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
    try (Ledger ledger = Ledgers.open(crashed)) {
      assertThat(ledger.reads().turn(Ledgers.key(1, "t-lost"))).isEmpty();
      assertThat(ledger.reads().turn(Ledgers.key(1, "t-good"))).isPresent();
    }
    try (Ledger ledger = Ledgers.open(state())) {
      assertThat(ledger.reads().turn(Ledgers.key(1, "t-lost"))).isEmpty();
      assertThat(ledger.reads().session(1).orElseThrow().stateReason()).isEqualTo("written again");
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aRecordThatCouldNotBeCutOffIsSupersededByTheNextSegment() throws Exception {
    Path crashed = temp.resolve("crashed");
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      files.failing.add(Operation.FORCE);
      files.failing.add(Operation.TRUNCATE);
      assertThatThrownBy(() -> ledger.admit(Ledgers.admit(session, "t-lost", "one")))
          .hasMessageContaining("unless the server restarts");
      files.failing.clear();
      Awaitility.await()
          .ignoreExceptions()
          .until(() -> ledger.admit(Ledgers.admit(session, "t-good", "two")) != null);
      assertThat(Ledgers.segments(state())).hasSize(2);
      Ledgers.journalOnly(state(), crashed);
    }
    try (Ledger ledger = Ledgers.open(crashed)) {
      assertThat(ledger.reads().turn(Ledgers.key(1, "t-lost"))).isEmpty();
      assertThat(ledger.reads().turn(Ledgers.key(1, "t-good"))).isPresent();
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aDiskThatStaysBadIsTriedAgainButNotByEveryCaller() throws Exception {
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      files.failing.add(Operation.FORCE);
      unavailable(() -> ledger.desync(session, "one"));
      long before = System.nanoTime();
      int tries = files.appends.get();
      for (int i = 0; i < 20; i++) {
        unavailable(() -> ledger.desync(session, "again"));
      }
      long seconds = Duration.ofNanos(System.nanoTime() - before).toSeconds();
      assertThat((long) files.appends.get() - tries).isLessThanOrEqualTo(seconds + 1);
      assertThat(ledger.reads().session(session)).isPresent();
      files.failing.clear();
    }
  }

  @Test
  void notesWaitForTheDiskToComeBackAndKeepTheirOrder() throws Exception {
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      TurnKey turn = Ledgers.key(session, "t-1");
      ledger.admit(Ledgers.admit(session, "t-1", "one"));
      ledger.start(turn);
      files.failing.add(Operation.APPEND);
      ledger.note(RebuildTest.call("call-1", turn, 0));
      ledger.note(RebuildTest.callEnd("call-1"));
      unavailable(() -> ledger.settle(turn, Ledgers.committed("done")));
      assertThat(ledger.reads().calls(turn)).isEmpty();
      files.failing.clear();
      // Nobody calls, and still they are written.
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> ledger.reads().calls(turn).stream().anyMatch(c -> c.end().isPresent()));
    }
  }

  @Test
  void p1ADatabaseThatFailsAfterTheForceIsOpenedAgainAndCallersHearSuccess() throws Exception {
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      Ledgers.runTurn(ledger, session, "t-1");
      AtomicBoolean shot = new AtomicBoolean();
      files.afterForce =
          () -> {
            if (shot.compareAndSet(false, true)) {
              shutDown();
            }
          };
      Admission admission = ledger.admit(Ledgers.admit(session, "t-2", "two"));
      assertThat(shot).isTrue();
      assertThat(admission).isInstanceOf(Admission.Fresh.class);
      assertThat(ledger.reads().turn(Ledgers.key(session, "t-2")).orElseThrow().state())
          .isEqualTo(TurnState.QUEUED);
      assertThat(ledger.start(Ledgers.key(session, "t-2"))).isTrue();
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
    try (Ledger ledger = Ledgers.open(state())) {
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aDatabaseThatFailsAgainAndAgainLosesNothingThatIsInTheJournal() throws Exception {
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      files.afterForce = this::shutDown;
      for (int i = 0; i < 3; i++) {
        Admit admit = Ledgers.admit(session, "t-" + i, "text");
        TurnKey key = Ledgers.key(session, "t-" + i);
        try {
          assertThat(ledger.admit(admit)).isInstanceOf(Admission.Fresh.class);
        } catch (Problem tooSoonToOpenAgain) {
          assertThat(tooSoonToOpenAgain).hasMessageStartingWith("It is recorded");
        }
        files.afterForce = () -> {};
        Awaitility.await()
            .atMost(Duration.ofSeconds(20))
            .ignoreExceptions()
            .until(() -> ledger.admit(admit) instanceof Admission.Known);
        ledger.start(key);
        ledger.settle(key, Ledgers.committed("done"));
        files.afterForce = this::shutDown;
      }
      files.afterForce = () -> {};
    }
    try (Ledger ledger = Ledgers.open(state())) {
      assertThat(ledger.reads().session(1).orElseThrow().committedTurns()).isEqualTo(3);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aDatabaseThatFailsBetweenVerbsIsOpenedAgain() throws Exception {
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      Ledgers.runTurn(ledger, session, "t-1");
      shutDown();
      assertThat(ledger.admit(Ledgers.admit(session, "t-2", "two")))
          .isInstanceOf(Admission.Fresh.class);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aReadThatMeetsAFailedDatabaseHasItOpenedAgain() throws Exception {
    try (Ledger ledger = open()) {
      long session = Ledgers.session(ledger, "sess-1");
      shutDown();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .ignoreExceptions()
          .until(() -> ledger.reads().session(session).isPresent());
    }
  }

  @Test
  void aSegmentThatCannotBeMadeKeepsTheOldOne() throws Exception {
    LedgerConfig small = new LedgerConfig(state(), Sync.PROCESS, 100, 1, Duration.ofDays(1), 1);
    try (Ledger ledger = Ledgers.open(small, files)) {
      long session = Ledgers.session(ledger, "sess-1");
      files.failing.add(Operation.CREATE);
      Ledgers.runTurn(ledger, session, "t-1");
      Ledgers.runTurn(ledger, session, "t-2");
      files.failing.clear();
      Ledgers.runTurn(ledger, session, "t-3");
    }
    try (Ledger ledger = Ledgers.open(state())) {
      assertThat(ledger.reads().session(1).orElseThrow().committedTurns()).isEqualTo(3);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Operation.class,
      names = {"RENAME", "FORCE_DIRECTORY"})
  void p1NothingIsAddedToASegmentThatMayBeSuperseded(Operation failing) throws Exception {
    Path crashed = temp.resolve("crashed");
    LedgerConfig small = new LedgerConfig(state(), Sync.PROCESS, 100, 1, Duration.ofDays(1), 1);
    List<String> acknowledged = new ArrayList<>();
    try (Ledger ledger = Ledgers.open(small, files)) {
      long session = Ledgers.session(ledger, "sess-1");
      files.failing.add(failing);
      for (int i = 0; i < 5; i++) {
        try {
          ledger.admit(Ledgers.admit(session, "t-" + i, "text"));
          acknowledged.add("t-" + i);
          ledger.requestCancel(Ledgers.key(session, "t-" + i));
        } catch (Problem notNow) {
          assertThat(notNow.code()).isIn(ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.CONFLICT);
        }
      }
      Ledgers.journalOnly(state(), crashed);
      files.failing.clear();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .ignoreExceptions()
          .until(() -> ledger.desync(session, "written again"));
    }
    for (Path directory : List.of(crashed, state())) {
      try (Ledger ledger = Ledgers.open(directory)) {
        for (String turn : acknowledged) {
          assertThat(ledger.reads().turn(Ledgers.key(1, turn))).as(turn).isPresent();
        }
        assertThat(ledger.reads().verify().problems()).isEmpty();
      }
    }
  }

  @Test
  void aLedgerThatCannotRecordItsBootIsRefused() throws Exception {
    files.failing.add(Operation.RENAME);
    assertThatThrownBy(this::open)
        .isInstanceOfSatisfying(
            LedgerRefusedException.class,
            refused ->
                assertThat(refused.reason()).isEqualTo(LedgerRefusedException.Reason.NOT_WRITABLE))
        .hasMessageContaining(state().toString());
    files.failing.clear();
    files.failing.add(Operation.APPEND);
    assertThatThrownBy(this::open).isInstanceOf(LedgerRefusedException.class);
    files.failing.clear();
    open().close();
  }

  /** As if H2 had met a bad disk: it closes itself, and every statement fails from then on. */
  private void shutDown() {
    try (Connection connection = Ledgers.connect(state());
        Statement statement = connection.createStatement()) {
      statement.execute("SHUTDOWN IMMEDIATELY");
    } catch (SQLException closed) {
      // Closing this connection finds the database gone; that is what is wanted.
      assertThat(closed.getErrorCode()).isIn(90098, 90121, 90067);
    }
  }
}
