package dev.blackbox.control;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.TurnScope;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs admitted turns: waits for its time, records the start, lets the agent work, ends it when
 * somebody or a limit says so, and records how it ended. One virtual thread per turn owns all of
 * that; other threads only wish for its end ({@link #requestStop}) or wait for it ({@link #await}).
 */
final class TurnEngine {

  private static final System.Logger LOG = System.getLogger(TurnEngine.class.getName());

  /** How often a waiting turn looks whether it should end. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  private final Ledger ledger;
  private final ModelProxy proxy;
  private final PauseClock clock;
  private final WorkspaceLock workspace;
  private final ControlConfig config;
  private final AgentWatch watch;
  private final Map<TurnKey, RunningTurn> running = new ConcurrentHashMap<>();
  private final Map<TurnKey, CompletableFuture<@Nullable Void>> waiters = new ConcurrentHashMap<>();

  /** Is told what a turn showed about the agent's health. */
  interface AgentWatch {
    /** The agent's process or program is gone. */
    void agentGone(LiveBinding binding, String reason);

    /** A turn ended badly; a look at the agent is due. */
    void lookAgain(LiveBinding binding);
  }

  TurnEngine(
      Ledger ledger,
      ModelProxy proxy,
      PauseClock clock,
      WorkspaceLock workspace,
      ControlConfig config,
      AgentWatch watch) {
    this.ledger = ledger;
    this.proxy = proxy;
    this.clock = clock;
    this.workspace = workspace;
    this.config = config;
    this.watch = watch;
  }

  /** Takes over a queued turn. */
  void launch(LiveBinding binding, TurnSnapshot queued) {
    RunningTurn turn = new RunningTurn(queued);
    running.put(queued.key(), turn);
    Thread.ofVirtual().name("turn-" + queued.key().turnId()).start(() -> run(binding, turn));
  }

  /** Wishes for the end of a turn. False if it is not in memory: settled, or not launched yet. */
  boolean requestStop(TurnKey key, StopCause cause) {
    RunningTurn turn = running.get(key);
    if (turn == null) {
      return false;
    }
    turn.requestStop(cause);
    return true;
  }

  /** Waits until a turn is settled or the time is over, and returns it as it then is. */
  TurnSnapshot await(TurnKey key, Optional<Duration> within) throws InterruptedException {
    long end = System.nanoTime() + within.map(Duration::toNanos).orElse(0L);
    while (true) {
      TurnSnapshot now = find(key);
      if (now.state().isSettled()) {
        return now;
      }
      CompletableFuture<@Nullable Void> signal =
          waiters.computeIfAbsent(key, _ -> new CompletableFuture<>());
      // The turn may have settled between the look and the wish to be woken: look once more, or
      // wait for ever.
      now = find(key);
      if (now.state().isSettled()) {
        // Others may hold the same signal since before it settled, and whoever settled it now finds
        // none to give: so it is given here, not only taken away.
        signal(key);
        return now;
      }
      long leftNanos = within.isPresent() ? end - System.nanoTime() : Long.MAX_VALUE;
      if (leftNanos <= 0 || !waitFor(signal, leftNanos)) {
        return find(key);
      }
    }
  }

  /** Wakes those who wait for a turn that somebody else settled. */
  void signal(TurnKey key) {
    CompletableFuture<@Nullable Void> signal = waiters.remove(key);
    if (signal != null) {
      signal.complete(null);
    }
  }

  /** Settles a queued turn whose agent could not be had. */
  void settleWithoutAgent(TurnSnapshot queued, String reason) {
    settle(queued.key(), new TurnOutcomes(queued).noAgent(reason));
    signal(queued.key());
  }

  /** Ends all turns and waits for them. */
  void shutDown(Duration within) throws InterruptedException {
    List<RunningTurn> open = List.copyOf(running.values());
    open.forEach(turn -> turn.requestStop(StopCause.SHUTDOWN));
    long end = System.nanoTime() + within.toNanos();
    for (RunningTurn turn : open) {
      await(turn.turn().key(), Optional.of(Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
    }
  }

  private TurnSnapshot find(TurnKey key) {
    return ledger
        .reads()
        .turn(key)
        .orElseThrow(
            () ->
                Problem.notFound("Turn does not exist.", Map.of("turn_id", key.turnId().value())));
  }

  private static boolean waitFor(CompletableFuture<@Nullable Void> signal, long nanos)
      throws InterruptedException {
    try {
      signal.get(nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("signals complete normally", impossible);
    }
  }

  private void run(LiveBinding binding, RunningTurn turn) {
    TurnOutcomes outcomes = new TurnOutcomes(turn.turn());
    try {
      Optional<TurnOutcome> outcome = Optional.empty();
      try {
        outcome = attempt(binding, turn, outcomes);
      } catch (Problem ledgerDown) {
        LOG.log(System.Logger.Level.WARNING, "turn could not be started: " + ledgerDown.text());
        outcome =
            Optional.of(
                outcomes.noAgent("the ledger could not record the start: " + ledgerDown.text()));
      } catch (RuntimeException bug) {
        LOG.log(System.Logger.Level.ERROR, "turn failed in our own code", bug);
        outcome = Optional.of(outcomes.unexpected(bug));
      }
      outcome.ifPresent(end -> settle(turn.turn().key(), end));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      running.remove(turn.turn().key(), turn);
      signal(turn.turn().key());
    }
  }

  /** Empty if somebody else settled the turn while it was queued. */
  private Optional<TurnOutcome> attempt(
      LiveBinding binding, RunningTurn turn, TurnOutcomes outcomes) throws InterruptedException {
    if (!awaitMyTime(turn)) {
      return Optional.of(outcomes.notStarted(turn.stopRequested().join()));
    }
    try {
      if (!ledger.start(turn.turn().key())) {
        return Optional.empty();
      }
      return Optional.of(drive(binding, turn, outcomes));
    } finally {
      workspace.release();
    }
  }

  /**
   * Waits for the end of a pause and for the workspace. False, holding nothing, if the turn should
   * end instead.
   */
  private boolean awaitMyTime(RunningTurn turn) throws InterruptedException {
    while (turn.stopCause().isEmpty()) {
      if (!clock.awaitRunning(LOOK_EVERY) || !workspace.tryAcquire(LOOK_EVERY)) {
        continue;
      }
      if (!clock.isPaused() && turn.stopCause().isEmpty()) {
        return true;
      }
      workspace.release();
    }
    return false;
  }

  private TurnOutcome drive(LiveBinding binding, RunningTurn turn, TurnOutcomes outcomes)
      throws InterruptedException {
    Agent agent = binding.agent();
    TurnScope scope = proxy.openTurn(turn.turn().key());
    try {
      CompletableFuture<AgentResult> result = start(binding, turn);
      CompletableFuture<?> _ =
          scope.stopDemanded().thenRun(() -> turn.requestStop(StopCause.STEPS));
      Optional<StopCause> cause = awaitEnd(result, turn, binding.effective().backendTimeout());
      if (cause.isEmpty()) {
        return ended(binding, result.join(), scope, outcomes);
      }
      Agent.StopReport report = agent.stop(config.stopWithin());
      Optional<AgentResult> late = resultWithin(result, config.stopWithin());
      late.ifPresent(known -> advanceTrace(binding, known.work()));
      scope.close();
      if (!scope.drain(config.drainWithin())) {
        report = Agent.StopReport.unproved("its model calls could not be closed");
      }
      return outcomes.stopped(
          cause.get(),
          report,
          late,
          scope.verdict(),
          scope.totals(),
          binding.effective().backendTimeout());
    } finally {
      scope.close();
    }
  }

  private TurnOutcome ended(
      LiveBinding binding, AgentResult result, TurnScope scope, TurnOutcomes outcomes)
      throws InterruptedException {
    if (!scope.drain(config.drainWithin())) {
      LOG.log(
          System.Logger.Level.WARNING,
          "agent has answered, but model calls of its turn go on; they are ended");
    }
    advanceTrace(binding, result.work());
    if (result instanceof AgentResult.Broken broken) {
      if (broken.kind() == AgentResult.Kind.PROCESS) {
        watch.agentGone(binding, broken.message());
      } else {
        watch.lookAgain(binding);
      }
    }
    return outcomes.ended(result, scope.verdict(), scope.totals());
  }

  private CompletableFuture<AgentResult> start(LiveBinding binding, RunningTurn turn) {
    TurnKey key = turn.turn().key();
    AgentTask task =
        new AgentTask(
            key.turnId(),
            promptOf(turn.turn()),
            id -> ledger.backendSession(key.sessionKey(), id),
            binding.nextTraceSequence().get());
    CompletableFuture<AgentResult> result = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("agent-" + key.turnId())
        .start(
            () -> {
              try {
                result.complete(binding.agent().run(task));
              } catch (RuntimeException bug) {
                LOG.log(System.Logger.Level.ERROR, "agent adapter failed in our own code", bug);
                result.complete(
                    new AgentResult.Broken(
                        AgentResult.Kind.UNEXPECTED, bug.getClass().getSimpleName(), Work.NONE));
              }
            });
    return result;
  }

  private static String promptOf(TurnSnapshot turn) {
    return Json.array(turn.requestJson()).getFirst() instanceof Map<?, ?> message
        ? String.valueOf(message.get("content"))
        : "";
  }

  /**
   * Waits for the agent's end; if something else came first, says what. Pauses do not count against
   * the limit.
   */
  private Optional<StopCause> awaitEnd(
      CompletableFuture<AgentResult> result, RunningTurn turn, double timeoutSeconds)
      throws InterruptedException {
    long endNanos = clock.runningNanos() + (long) (timeoutSeconds * 1e9);
    CompletableFuture<?> either = CompletableFuture.anyOf(result, turn.stopRequested());
    while (true) {
      long leftNanos = endNanos - clock.runningNanos();
      if (leftNanos <= 0) {
        turn.requestStop(StopCause.TIMEOUT);
      }
      if (turn.stopCause().isPresent()) {
        return turn.stopCause();
      }
      // While paused the time left stands still, so a short slice keeps this loop from spinning.
      long sliceNanos = clock.isPaused() ? Math.max(leftNanos, LOOK_EVERY.toNanos()) : leftNanos;
      try {
        either.get(sliceNanos, TimeUnit.NANOSECONDS);
      } catch (TimeoutException _) {
        continue;
      } catch (ExecutionException impossible) {
        throw new IllegalStateException("agent results complete normally", impossible);
      }
      return result.isDone() ? stepsOnly(turn) : turn.stopCause();
    }
  }

  /**
   * If the agent ended and the step budget was used up at once, the budget wins, as in the
   * reference.
   */
  private static Optional<StopCause> stepsOnly(RunningTurn turn) {
    return turn.stopCause().filter(cause -> cause == StopCause.STEPS);
  }

  private static Optional<AgentResult> resultWithin(
      CompletableFuture<AgentResult> result, Duration within) throws InterruptedException {
    try {
      return Optional.of(result.get(within.toNanos(), TimeUnit.NANOSECONDS));
    } catch (TimeoutException _) {
      return Optional.empty();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("agent results complete normally", impossible);
    }
  }

  private static void advanceTrace(LiveBinding binding, Work work) {
    TraceSequences.last(work.traceJson())
        .ifPresent(last -> binding.nextTraceSequence().accumulateAndGet(last + 1, Math::max));
  }

  /** Holds the result until the ledger takes it: a full disk must not cost an answer. */
  private void settle(TurnKey key, TurnOutcome outcome) {
    while (true) {
      try {
        ledger.settle(key, outcome);
        return;
      } catch (Problem ledgerDown) {
        if (ledgerDown.code() != ErrorCode.SERVICE_UNAVAILABLE || ledger.isClosed()) {
          throw ledgerDown;
        }
        LOG.log(
            System.Logger.Level.WARNING,
            "a turn's result waits for the ledger: " + ledgerDown.text());
        try {
          Thread.sleep(config.settleRetryEvery());
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw ledgerDown;
        }
      }
    }
  }
}
