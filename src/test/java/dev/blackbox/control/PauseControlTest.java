package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.blackbox.control.PausingEngine.Answer;
import dev.blackbox.control.Rollout.PauseView;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.control.Rollout.ResumeView;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pause and resume with an engine on a real socket. */
@Timeout(90)
class PauseControlTest {

  private static final Optional<Double> SOON = Optional.of(5.0);
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir Path root;

  private final FakeBackend backend = new FakeBackend();
  private final PausingEngine engine = new PausingEngine();
  private ControlRig rig;

  @BeforeEach
  void open() throws LedgerRefusedException {
    rig = new ControlRig(root, backend);
    register(Map.of());
  }

  @AfterEach
  void close() {
    engine.close();
    rig.close();
  }

  private void register(Map<String, Object> serverConfig) {
    RegisterRequest plain = rig.registration(serverConfig);
    rig.control.register(
        new RegisterRequest(
            plain.blackboxType(),
            engine.router(),
            plain.routerApiPath(),
            plain.sessionId(),
            plain.instanceId(),
            plain.sandboxId(),
            plain.systemPromptFile(),
            plain.backendOptions(),
            plain.serverConfig()));
  }

  @Test
  void theEngineIsToldWithWhatTheCallerSaidAndAnswersWhatItSaid() {
    engine.pause =
        Optional.of(
            new Answer(
                200, "{\"quiesced\":true,\"suspended_generations\":3,\"reason\":\"its own\"}"));
    PauseView paused = rig.control.pause("weights", Optional.of(7.5));
    assertThat(paused.status()).isEqualTo("paused");
    assertThat(paused.quiesced()).isTrue();
    assertThat(paused.reason()).isEqualTo("its own");
    assertThat(paused.details())
        .containsEntry("suspended_generations", 3)
        .containsEntry("http_inflight_requests", 0);
    assertThat(rig.control.pauseState().reason()).contains("weights");
    assertThat(rig.control.pause("again", SOON).status()).isEqualTo("already_paused");
    ResumeView resumed = rig.control.resume("done", Optional.of("v2"));
    assertThat(resumed.status()).isEqualTo("resumed");
    assertThat(resumed.version()).isEqualTo("v2");
    assertThat(rig.control.pauseState().version()).contains("v2");
    assertThat(rig.control.resume("done", Optional.empty()).status()).isEqualTo("already_running");
    assertThat(rig.control.pauseState().version()).as("kept").contains("v2");
    assertThat(engine.bodies.getFirst())
        .containsEntry("reason", "weights")
        .containsEntry("timeout_seconds", 7.5)
        .containsEntry("mode", "preempt")
        .containsEntry("session_id", ControlRig.SESSION);
    assertThat(engine.bodies.get(2)).containsEntry("version", "v2").containsEntry("reason", "done");
  }

  @Test
  void modelCallsWaitWhilePausedAreCountedAndExpectTheNewVersion() throws Exception {
    engine.chatGate = new CountDownLatch(1);
    rig.submit("t1", "call");
    await().atMost(LIMIT).until(() -> engine.events.contains("begin chat"));
    PauseView paused = rig.control.pause("weights", SOON);
    assertThat(paused.details()).containsEntry("http_inflight_requests", 1);
    assertThat(rig.control.pauseState().adapterJson()).contains("\"http_inflight_requests\":1");
    engine.chatGate.countDown();
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.COMMITTED);
    rig.control.resume("weights", Optional.of("v2"));

    CountDownLatch mayCall = new CountDownLatch(1);
    backend.onRun = () -> passed(mayCall);
    rig.submit("t2", "call");
    await().atMost(LIMIT).until(() -> backend.runs.size() == 2);
    rig.control.pause("weights", SOON);
    mayCall.countDown();
    assertThat(within("t2", Duration.ofMillis(500))).isEqualTo(TurnState.INFLIGHT);
    assertThat(engine.expectedVersions).as("calls that came through").containsExactly("none");
    rig.control.resume("weights", Optional.of("v3"));
    assertThat(rig.settled("t2").turn().state()).isEqualTo(TurnState.COMMITTED);
    assertThat(engine.expectedVersions).containsExactly("none", "v3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"500", "cut", "nonsense", "not quiesced"})
  void aFailedPauseLeavesTheStateThatWasThereAndSaysWhich(String how) {
    Optional<Answer> good = engine.pause;
    engine.pause = bad(how);
    ErrorCode code = how.equals("not quiesced") ? ErrorCode.PAUSE_TIMEOUT : ErrorCode.BACKEND_ERROR;
    Problem failed = failed(() -> rig.control.pause("weights", SOON));
    assertThat(failed.code()).isEqualTo(code);
    assertThat(failed.text()).contains("The server is not paused.");
    assertThat(failed.details()).containsEntry("paused", false);
    assertThat(rig.control.pauseState().paused()).isFalse();
    assertThat(rig.run("t1", "call").turn().state()).as("goes on").isEqualTo(TurnState.COMMITTED);

    engine.pause = good;
    rig.control.pause("weights", SOON);
    engine.pause = bad(how);
    Problem again = failed(() -> rig.control.pause("more", SOON));
    assertThat(again.details()).containsEntry("paused", true);
    assertThat(rig.control.pauseState().reason()).contains("weights");
    rig.control.resume("weights", Optional.empty());
    assertThat(rig.run("t2", "more").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"500", "cut", "nonsense"})
  void aFailedResumeStaysPausedAndTheNextOneWorks(String how) {
    Optional<Answer> good = engine.resume;
    rig.control.pause("weights", SOON);
    engine.resume = bad(how);
    Problem failed = failed(() -> rig.control.resume("weights", Optional.of("v2")));
    assertThat(failed.code()).isEqualTo(ErrorCode.BACKEND_ERROR);
    assertThat(failed.text()).contains("The server is paused.");
    assertThat(failed.details()).containsEntry("paused", true);
    assertThat(rig.control.pauseState().paused()).isTrue();
    assertThat(rig.control.pauseState().version()).as("not the new one").isEmpty();
    rig.submit("t1", "hello");
    assertThat(within("t1", Duration.ofMillis(300))).isEqualTo(TurnState.QUEUED);
    engine.resume = good;
    rig.control.resume("weights", Optional.of("v2"));
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  @Test
  void callsAreServedOneAfterTheOtherAndOneThatWaitsTooLongIsRefused() throws Exception {
    engine.pauseGate = new CountDownLatch(1);
    FutureTask<PauseView> pause = new FutureTask<>(() -> rig.control.pause("weights", SOON));
    Thread first = Thread.ofVirtual().start(pause);
    await().atMost(LIMIT).until(() -> engine.events.contains("begin pause"));
    assertThat(rig.control.pauseState().paused()).as("told before it is so").isFalse();
    // The rig's limit of such a call is 5 s.
    Problem late = failed(() -> rig.control.resume("weights", Optional.empty()));
    assertThat(late.code()).isEqualTo(ErrorCode.SERVICE_UNAVAILABLE);
    assertThat(late.text()).contains("still under way", "The server is not paused.");
    assertThat(engine.events).containsExactly("begin pause");

    FutureTask<ResumeView> resume =
        new FutureTask<>(() -> rig.control.resume("weights", Optional.empty()));
    Thread second = Thread.ofPlatform().daemon().start(resume);
    await().atMost(LIMIT).until(() -> second.getState() == Thread.State.TIMED_WAITING);
    engine.pauseGate.countDown();
    assertThat(pause.get(20, TimeUnit.SECONDS).status()).isEqualTo("paused");
    assertThat(resume.get(20, TimeUnit.SECONDS).status()).isEqualTo("resumed");
    assertThat(engine.events)
        .containsExactly("begin pause", "end pause", "begin resume", "end resume");
    assertThat(rig.control.pauseState().paused()).isFalse();
    first.join();
    second.join();
  }

  @Test
  void whatIsSubmittedWhilePausedIsAcceptedAndWaitsForTheResume() {
    rig.control.pause("weights", SOON);
    assertThat(rig.submit("t1", "hello").turn().state()).isEqualTo(TurnState.QUEUED);
    assertThat(within("t1", Duration.ofMillis(300))).isEqualTo(TurnState.QUEUED);
    assertThat(backend.runs).isEmpty();
    rig.control.resume("weights", Optional.empty());
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.COMMITTED);
  }

  @Test
  void aRestartStaysPausedUntilTheResume() throws Exception {
    rig.control.resume("before", Optional.of("v1"));
    rig.control.pause("weights", SOON);
    rig = rig.reopened();
    await().atMost(LIMIT).until(() -> rig.control.status().state().equals("ready"));
    assertThat(rig.control.pauseState().reason()).contains("weights");
    assertThat(rig.control.pauseState().version()).contains("v1");
    rig.submit("t1", "hello");
    assertThat(within("t1", Duration.ofMillis(300))).isEqualTo(TurnState.QUEUED);
    assertThat(backend.runs).isEmpty();
    rig.control.resume("weights", Optional.empty());
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.COMMITTED);
    assertThat(rig.control.pauseState().version()).contains("v1");
  }

  @Test
  void aPauseThatBeginsWithinATurnStopsItsClock() throws Exception {
    rig.control.abort(ControlRig.SESSION);
    double limitSeconds = 1.5;
    register(Map.of("backend_timeout", limitSeconds));
    TurnKey turn = rig.submit("t1", "block").turn().key();
    assertThat(backend.working.await(20, TimeUnit.SECONDS)).isTrue();
    rig.control.pause("weights", SOON);
    assertThat(within("t1", Duration.ofMillis(2500)))
        .as("after more than its limit, but paused")
        .isEqualTo(TurnState.INFLIGHT);
    assertThat(rig.control.pauseState().adapterJson()).contains("\"total_paused_seconds\":2.");
    rig.control.resume("weights", Optional.empty());
    TurnOutcome outcome =
        rig.control.await(turn, Optional.of(LIMIT)).turn().settlement().orElseThrow().outcome();
    assertThat(outcome)
        .isInstanceOfSatisfying(
            TurnOutcome.Unknown.class,
            unknown -> assertThat(unknown.error().code()).isEqualTo(ErrorCode.BACKEND_TIMEOUT));
  }

  private TurnState within(String turnId, Duration limit) {
    return rig.control
        .await(rig.control.turn(ControlRig.SESSION, turnId).turn().key(), Optional.of(limit))
        .turn()
        .state();
  }

  private static Optional<Answer> bad(String how) {
    return switch (how) {
      case "500" -> Optional.of(new Answer(500, "{\"detail\":\"no\"}"));
      case "cut" -> Optional.empty();
      case "nonsense" -> Optional.of(new Answer(200, "<html>"));
      default -> Optional.of(new Answer(200, "{\"quiesced\":false,\"active\":2}"));
    };
  }

  private static Problem failed(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    return catchThrowableOfType(Problem.class, call);
  }

  private static void passed(CountDownLatch gate) {
    try {
      assertThat(gate.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
