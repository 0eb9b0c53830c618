package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.blackbox.control.Rollout.CancelView;
import dev.blackbox.control.Rollout.Submission;
import dev.blackbox.control.Rollout.TurnView;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TurnEngineTest {

  @TempDir Path root;

  private final FakeBackend backend = new FakeBackend();
  private ControlRig rig;

  @BeforeEach
  void open() throws LedgerRefusedException {
    rig = new ControlRig(root, backend).registered();
  }

  @AfterEach
  void close() {
    rig.close();
  }

  @Test
  void p2_sixtyFourClientsWithOneTurnIdMakeOneRunAndGetOneAnswer() throws Exception {
    List<Future<TurnView>> answers = new ArrayList<>();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int client = 0; client < 64; client++) {
        answers.add(clients.submit(() -> rig.run("t1", "hello")));
      }
    }
    assertThat(backend.runs).containsExactly("hello");
    assertThat(answers)
        .allSatisfy(
            answer -> {
              TurnOutcome outcome = answer.get().turn().settlement().orElseThrow().outcome();
              assertThat(outcome).isInstanceOf(TurnOutcome.Committed.class);
              assertThat(outcome.work().outputsJson()).contains("echo hello");
            });
  }

  @Test
  void p3_aKnownTurnIsReplayedAfterAbortDesyncLimitPauseAndError() {
    rig.run("t1", "hello");
    rig.run("t2", "broken");
    assertThat(rig.settled("t2").sessionState()).isEqualTo("desynced");
    assertReplays("t1", "hello");
    assertReplays("t2", "broken");
    refused(() -> rig.submit("t3", "new"), ErrorCode.CONFLICT);
    backend.healthy.set(false);
    rig.control.abort(ControlRig.SESSION);
    assertReplays("t1", "hello");
    refused(() -> rig.submit("t3", "new"), ErrorCode.CONFLICT);
    assertThat(backend.runs).containsExactly("hello", "broken");
  }

  @Test
  void p3_theTurnLimitRefusesNewTurnsAndReplaysOldOnes() throws LedgerRefusedException {
    rig.close();
    rig = new ControlRig(root.resolve("limited"), backend);
    rig.control.register(rig.registration(Map.of("max_turns", 1)));
    rig.run("t1", "hello");
    refused(() -> rig.submit("t2", "more"), ErrorCode.TOO_MANY_REQUESTS);
    assertReplays("t1", "hello");
  }

  @Test
  void anotherBodyUnderAKnownIdIsRefusedAndChangesNothing() {
    rig.run("t1", "hello");
    refused(() -> rig.submit("t1", "other"), ErrorCode.CONFLICT);
    assertThat(rig.settled("t1").turn().settlement().orElseThrow().outcome().work().outputsJson())
        .contains("echo hello");
  }

  @Test
  void p5_aSecondTurnIsRefusedWhileOneIsActive() throws InterruptedException {
    rig.submit("t1", "block");
    working();
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(() -> rig.submit("t2", "more"))
        .satisfies(problem -> assertThat(problem.details()).containsEntry("active_turn_id", "t1"));
    rig.control.cancel(ControlRig.SESSION, "t1");
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.CANCELLED);
    assertThat(rig.run("t2", "more").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  /** Those who come just when it settles share a signal with those who came before. */
  @Test
  void nobodyWhoWaitsForATurnIsForgottenWhenItSettles() throws Exception {
    for (int round = 0; round < 60; round++) {
      TurnKey turn = rig.submit("t" + round, "hello").turn().key();
      List<Future<TurnView>> waiters = new ArrayList<>();
      try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int client = 0; client < 32; client++) {
          waiters.add(
              clients.submit(() -> rig.control.await(turn, Optional.of(Duration.ofSeconds(50)))));
        }
        for (Future<TurnView> waiter : waiters) {
          assertThat(waiter.get(20, TimeUnit.SECONDS).turn().state())
              .isEqualTo(TurnState.COMMITTED);
        }
      }
    }
  }

  @Test
  void cancelKeepsTheSessionAndThePartialWork() throws InterruptedException {
    rig.submit("t1", "block");
    working();
    CancelView cancel = rig.control.cancel(ControlRig.SESSION, "t1");
    assertThat(cancel.status()).isEqualTo("cancel_requested");
    TurnView settled = rig.settled("t1");
    assertThat(settled.turn().state()).isEqualTo(TurnState.CANCELLED);
    assertThat(settled.sessionState()).isEqualTo("active");
    assertThat(settled.turn().settlement().orElseThrow().outcome().work().outputsJson())
        .contains("partial");
    assertThat(rig.control.cancel(ControlRig.SESSION, "t1").status()).isEqualTo("cancelled");
  }

  @Test
  void anAgentThatIsStoppedBeforeItHasBegunIsStoppedAllTheSame() throws InterruptedException {
    CountDownLatch begin = new CountDownLatch(1);
    backend.mayBegin = begin;
    rig.submit("t1", "block");
    assertThat(backend.asked.await(10, TimeUnit.SECONDS)).isTrue();
    rig.control.cancel(ControlRig.SESSION, "t1");
    assertThat(backend.nothingToStop.await(10, TimeUnit.SECONDS)).isTrue();
    begin.countDown();
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.CANCELLED);
    assertThat(rig.run("t2", "more").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  @Test
  void aCancelThatCannotBeProvedDesyncsWithTheReason() throws InterruptedException {
    rig.submit("t1", "deaf");
    working();
    rig.control.cancel(ControlRig.SESSION, "t1");
    TurnView settled = rig.settled("t1");
    assertThat(settled.turn().state()).isEqualTo(TurnState.UNKNOWN);
    assertThat(settled.sessionState()).isEqualTo("desynced");
    assertThat(error(settled).message()).contains("deaf");
  }

  @Test
  void abortSettlesTheRunningTurnAsAborted() throws InterruptedException {
    rig.submit("t1", "block");
    working();
    assertThat(rig.control.abort(ControlRig.SESSION).mode()).isEqualTo("best_effort");
    TurnView settled = rig.settled("t1");
    assertThat(settled.turn().state()).isEqualTo(TurnState.UNKNOWN);
    assertThat(error(settled).code()).isEqualTo(ErrorCode.ABORTED);
    assertThat(settled.sessionState()).isEqualTo("aborted");
    assertThat(rig.control.abort(ControlRig.SESSION).mode()).isEqualTo("noop");
  }

  @Test
  void theTimeLimitEndsATurnAsUnknown() throws LedgerRefusedException {
    rig.close();
    rig = new ControlRig(root.resolve("short"), backend);
    rig.control.register(rig.registration(Map.of("backend_timeout", 0.3)));
    TurnView settled = rig.run("t1", "block");
    assertThat(error(settled).code()).isEqualTo(ErrorCode.BACKEND_TIMEOUT);
    assertThat(settled.turn().state()).isEqualTo(TurnState.UNKNOWN);
  }

  @Test
  void aDeadAgentPutsTheServerInErrorAndRegisteringAgainLeadsOut() {
    rig.run("t1", "died");
    assertThat(rig.control.status().state()).isEqualTo("error");
    assertThat(rig.control.checks())
        .anySatisfy(check -> assertThat(check.reason()).contains("it died"));
    refused(() -> rig.submit("t2", "new"), ErrorCode.SERVICE_UNAVAILABLE);
    assertReplays("t1", "died");
    rig.control.register(rig.registration(Map.of()));
    assertThat(rig.control.status().state()).isEqualTo("ready");
    assertThat(rig.run("t2", "new").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  @Test
  void registeringAgainIsANoOpUntilTheSessionIsAborted() {
    Rollout.BindingView first = rig.control.register(rig.registration(Map.of()));
    assertThat(rig.control.register(rig.registration(Map.of())).bindingJson())
        .isEqualTo(first.bindingJson());
    assertThat(backend.starts).hasValue(1);
    refused(
        () -> rig.control.register(rig.registration(Map.of("max_turns", 5))), ErrorCode.CONFLICT);
    rig.control.abort(ControlRig.SESSION);
    assertThat(rig.control.register(rig.registration(Map.of())).bindingJson())
        .isNotEqualTo(first.bindingJson());
    assertThat(rig.control.session(ControlRig.SESSION).session().state().wireName())
        .isEqualTo("active");
    assertThat(rig.run("t1", "hello").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  @Test
  void aFailedStartLeavesErrorAndNoSession() throws LedgerRefusedException {
    rig.close();
    backend.startFailure.set("no such program");
    rig = new ControlRig(root.resolve("failing"), backend);
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(() -> rig.registered())
        .withMessageContaining("no such program");
    assertThat(rig.control.status().state()).isEqualTo("error");
    refused(() -> rig.control.session(ControlRig.SESSION), ErrorCode.NOT_FOUND);
    backend.startFailure.set(null);
    rig.registered();
    assertThat(rig.control.status().state()).isEqualTo("ready");
  }

  @Test
  void aGeneratedIdIsTheOnlyOneOfItsSession() {
    Submission first = rig.submitWithoutId("hello");
    rig.control.await(first.turn().key(), Optional.of(Duration.ofSeconds(10)));
    Submission again = rig.submitWithoutId("hello");
    assertThat(again.replay()).isTrue();
    assertThat(again.turn().key()).isEqualTo(first.turn().key());
    refused(() -> rig.submitWithoutId("other"), ErrorCode.CONFLICT);
    refused(() -> rig.submit("explicit", "hello"), ErrorCode.CONFLICT);
    assertThat(backend.runs).containsExactly("hello");
  }

  @Test
  void explicitIdsForbidToLeaveThemOut() {
    rig.run("t1", "hello");
    refused(() -> rig.submitWithoutId("hello"), ErrorCode.REQUEST_ERROR);
  }

  @Test
  void aCommandNeverKeepsAPollWaiting() throws Exception {
    rig.run("t1", "hello");
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      long start = System.nanoTime();
      Future<CommandSnapshot> command =
          clients.submit(() -> rig.command(Optional.empty(), "sleep 60 & echo hi", 2.0));
      await()
          .atMost(Duration.ofSeconds(1))
          .until(() -> rig.settled("t1").turn().state() == TurnState.COMMITTED);
      String result = command.get(20, TimeUnit.SECONDS).resultJson().orElseThrow();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(2500));
      assertThat(result).contains("\"stdout\":\"hi\\n\"").contains("\"returncode\":0");
    }
  }

  @Test
  void p6_theNextBootGoesOnWithTheSameSessionAndBinding() throws LedgerRefusedException {
    rig.run("t1", "hello");
    String before = rig.control.status().binding().orElseThrow().bindingJson();
    rig = rig.reopened();
    await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> rig.control.status().state().equals("ready"));
    assertThat(rig.control.status().binding().orElseThrow().bindingJson()).isEqualTo(before);
    assertThat(rig.control.register(rig.registration(Map.of())).bindingJson()).isEqualTo(before);
    assertReplays("t1", "hello");
    assertThat(rig.run("t2", "more").turn().state()).isEqualTo(TurnState.COMMITTED);
    assertThat(rig.control.session(ControlRig.SESSION).messageCount()).isEqualTo(4);
  }

  @Test
  void shutdownSettlesTheRunningTurnAndTheNextBootStillTellsIt() throws Exception {
    rig.submit("t1", "block");
    working();
    rig = rig.reopened();
    TurnView settled = rig.settled("t1");
    assertThat(settled.turn().state()).isEqualTo(TurnState.UNKNOWN);
    assertThat(error(settled).code()).isEqualTo(ErrorCode.SERVER_SHUTDOWN);
  }

  private void working() throws InterruptedException {
    assertThat(backend.working.await(10, TimeUnit.SECONDS)).isTrue();
  }

  private void assertReplays(String turnId, String prompt) {
    TurnView before = rig.settled(turnId);
    Submission replay = rig.submit(turnId, prompt);
    assertThat(replay.replay()).isTrue();
    assertThat(replay.turn()).isEqualTo(before.turn());
  }

  private static dev.blackbox.turn.TurnError error(TurnView view) {
    return ((TurnOutcome.WithoutAnswer) view.turn().settlement().orElseThrow().outcome()).error();
  }

  private static void refused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, ErrorCode code) {
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(call)
        .satisfies(problem -> assertThat(problem.code()).isEqualTo(code));
  }
}
