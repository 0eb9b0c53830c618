package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bindings over their life: health, what a refused registration leaves, and secrets at restart. */
@Timeout(60)
class BindingTest {

  private static final Map<String, Object> OFTEN = Map.of("runtime_health_check_interval", 0.02);

  @TempDir Path root;

  private final FakeBackend backend = new FakeBackend();
  private ControlRig rig;

  @BeforeEach
  void open() throws LedgerRefusedException {
    rig = new ControlRig(root, backend);
  }

  @AfterEach
  void close() {
    rig.close();
  }

  @Test
  void aBusyAgentIsNotFoundDeadAndASilentIdleOneIs() throws Exception {
    rig.control.register(rig.registration(OFTEN));
    rig.submit("t1", "block");
    assertThat(backend.working.await(10, TimeUnit.SECONDS)).isTrue();
    backend.healthy.set(false);
    int looks = backend.looks.get();
    await().atMost(Duration.ofSeconds(20)).until(() -> backend.looks.get() > looks + 6);
    refused(() -> rig.submit("t2", "more"), ErrorCode.CONFLICT);
    assertThat(rig.control.status().state()).isEqualTo("ready");
    rig.control.cancel(ControlRig.SESSION, "t1");
    assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.CANCELLED);
    awaitState("error");
    assertThat(rig.control.status().run().backendHealth().reason()).contains("health check");
    assertThat(rig.control.checks())
        .filteredOn(check -> !check.ok())
        .extracting(Rollout.Check::name)
        .containsExactly("server", "agent");
  }

  @Test
  void theMonitorGoesOnAfterAnErrorAndWatchesTheNextBinding() {
    rig.control.register(rig.registration(OFTEN));
    for (int round = 0; round < 2; round++) {
      backend.healthy.set(false);
      awaitState("error");
      backend.healthy.set(true);
      rig.control.register(rig.registration(OFTEN));
      assertThat(rig.control.status().state()).isEqualTo("ready");
      String turn = "t" + round;
      assertThat(rig.run(turn, "hello").turn().state()).isEqualTo(TurnState.COMMITTED);
    }
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> rig.control.status().run().backendHealth().lastSeenHealthy().isPresent());
  }

  /**
   * The one way into {@code error} under a turn: the monitor has found an idle agent silent, and
   * before it says so a turn is taken.
   */
  @Test
  void registeringFromErrorEndsTheTurnThatStillRuns() throws Exception {
    rig.close();
    AtomicInteger asked = new AtomicInteger(-1);
    rig = new ControlRig(root, backend, UnaryOperator.identity(), monitored(asked));
    rig.control.register(rig.registration(OFTEN));
    asked.set(0);
    awaitState("error");
    TurnKey turn = rig.control.turn(ControlRig.SESSION, "t1").turn().key();
    assertThat(rig.ledger.reads().turn(turn).orElseThrow().state())
        .as("a turn that runs while the server is in error")
        .isEqualTo(TurnState.INFLIGHT);
    rig.control.register(rig.registration(OFTEN));
    assertThat(rig.control.status().state()).isEqualTo("ready");
    assertThat(backend.stops.get()).as("told to stop").isPositive();
    TurnSnapshot ended = rig.ledger.reads().turn(turn).orElseThrow();
    assertThat(ended.state()).isEqualTo(TurnState.UNKNOWN);
    assertThat(backend.atWork.get()).as("agents at work").isZero();
    assertThat(rig.run("t1", "hello").turn().state()).isEqualTo(TurnState.COMMITTED);
    assertThat(backend.runs).containsExactly("block", "hello");
  }

  /**
   * A ledger where the monitor finds the agent idle, then silent, and then idle again, but with the
   * turn {@code t1} taken right after that last look.
   *
   * @param asked from 0 on, how often the monitor has asked
   */
  private Ledger monitored(AtomicInteger asked) throws LedgerRefusedException {
    Ledger real = ControlRig.ledger(root);
    LedgerReads reads =
        Seams.of(
            LedgerReads.class,
            real.reads(),
            (verb, call) -> {
              boolean monitor = Thread.currentThread().getName().equals("health-monitor");
              if (!monitor || !verb.equals("activeTurn") || asked.get() < 0) {
                return call.proceed();
              }
              @Nullable Object idle = call.proceed();
              int times = asked.incrementAndGet();
              if (times == 1) {
                backend.healthy.set(false);
              } else if (times == 2) {
                backend.healthy.set(true);
                rig.submit("t1", "block");
                await().atMost(Duration.ofSeconds(10)).until(() -> backend.working.getCount() == 0);
              }
              return idle;
            });
    return Seams.of(
        Ledger.class, real, (verb, call) -> verb.equals("reads") ? reads : call.proceed());
  }

  @Test
  void aRegistrationWhoseRootCannotBeWrittenChangesNothing() throws Exception {
    rig.registered();
    rig.run("t1", "hello");
    rig.control.abort(ControlRig.SESSION);
    String before = rig.control.status().binding().orElseThrow().bindingJson();
    Path file = Files.createFile(root.resolve("file"));
    refused(
        () ->
            rig.control.register(
                rig.registration(Map.of("runtime_root", file.resolve("below").toString()))),
        ErrorCode.BACKEND_ERROR);
    assertThat(rig.control.status().state()).isEqualTo("ready");
    assertThat(rig.control.status().binding().orElseThrow().bindingJson()).isEqualTo(before);
    assertThat(rig.control.session(ControlRig.SESSION).session().committedTurns()).isEqualTo(1);
  }

  @Test
  void aBugInABackendLeavesAStateThatTheNextRegistrationLeaves() {
    backend.startBug.set(true);
    assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> rig.registered());
    assertThat(rig.control.status().state()).isEqualTo("error");
    backend.startBug.set(false);
    rig.registered();
    assertThat(rig.control.status().state()).isEqualTo("ready");
  }

  @Test
  void aRegistrationWithSecretsWaitsForItsRepeatAndThenGoesOn() throws Exception {
    rig.control.register(withKey("k-1"));
    rig.run("t1", "hello");
    rig = rig.reopened();
    awaitState("error");
    assertThat(rig.control.status().run().stateReason()).contains("Register again");
    assertThat(rig.settled("t1").sessionState()).isEqualTo("active");
    assertThat(rig.submit("t1", "hello").replay()).isTrue();
    refused(() -> rig.submit("t2", "more"), ErrorCode.SERVICE_UNAVAILABLE);
    refused(() -> rig.control.register(withKey("k-2")), ErrorCode.CONFLICT);
    rig.control.register(withKey("k-1"));
    assertThat(rig.control.status().state()).isEqualTo("ready");
    assertThat(rig.submit("t1", "hello").replay()).isTrue();
    assertThat(rig.run("t2", "more").turn().state()).isEqualTo(TurnState.COMMITTED);
    assertThat(rig.control.session(ControlRig.SESSION).messageCount()).isEqualTo(4);
  }

  @Test
  void aFailedRestartIsLeftByRegisteringAndItsPauseIsNotInherited() throws Exception {
    rig.registered();
    rig.ledger.pause(
        rig.ledger.reads().openBinding().orElseThrow().binding().runtimeId(),
        new dev.blackbox.ledger.LedgerFacts.Pause(true, "weights", Optional.of("7")));
    backend.startFailure.set("no such program");
    rig = rig.reopened();
    awaitState("error");
    assertThat(rig.control.pauseState().paused()).isTrue();
    backend.startFailure.set(null);
    rig.registered();
    assertThat(rig.control.pauseState().paused()).isFalse();
    TurnOutcome outcome = rig.run("t1", "hello").turn().settlement().orElseThrow().outcome();
    assertThat(outcome).isInstanceOf(TurnOutcome.Committed.class);
  }

  @Test
  void statusTellsOfThisRun() throws Exception {
    rig.registered();
    rig.submit("t1", "block");
    Rollout.RunView run = rig.control.status().run();
    assertThat(run.boot()).isEqualTo(1);
    assertThat(run.activeTurn().orElseThrow().key().turnId().value()).isEqualTo("t1");
    assertThat(run.ledger().bytes()).isPositive();
    assertThat(run.recovered()).containsEntry("turns_interrupted", 0);
    assertThat(rig.control.checks()).allMatch(Rollout.Check::ok).hasSize(3);
    assertThat(rig.control.checks()).noneMatch(check -> check.reason().isEmpty());
  }

  private RegisterRequest withKey(String key) {
    RegisterRequest plain = rig.registration(Map.of());
    Map<String, @Nullable Object> options = Map.of("api_key", key);
    return new RegisterRequest(
        plain.blackboxType(),
        plain.router(),
        plain.routerApiPath(),
        plain.sessionId(),
        plain.instanceId(),
        plain.sandboxId(),
        plain.systemPromptFile(),
        options,
        plain.serverConfig());
  }

  private void awaitState(String state) {
    await().atMost(Duration.ofSeconds(20)).until(() -> rig.control.status().state().equals(state));
  }

  private static void refused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, ErrorCode code) {
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(call)
        .satisfies(problem -> assertThat(problem.code()).isEqualTo(code));
  }
}
