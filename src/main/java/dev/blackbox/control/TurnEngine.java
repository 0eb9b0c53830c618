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
import dev.blackbox.turn.SessionSnapshot;
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

/**
 * Runs admitted turns: waits for its time, records the start, lets the agent work, ends it when
 * somebody or a limit says so, and records how it ended. One virtual thread per turn owns all of
 * that; other threads only wish for its end ({@link #requestStop}) or wait for it ({@link #await}).
 */
final class TurnEngine {

  private static final System.Logger LOG = System.getLogger(TurnEngine.class.getName());

  /** How often a waiting turn looks whether it should end. */
  static final Duration LOOK_EVERY = Duration.ofMillis(200);

  private final Ledger ledger;
  private final ModelProxy proxy;
  private final PauseClock clock;
  private final WorkspaceLock workspace;
  private final ControlConfig config;
  private final AgentWatch watch;
  private final Threads threads;
  private final Map<TurnKey, RunningTurn> running = new ConcurrentHashMap<>();
  private final TurnWaiters waiters;
  private volatile boolean shuttingDown;

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
      AgentWatch watch,
      Threads threads) {
    this.ledger = ledger;
    this.waiters = new TurnWaiters(ledger);
    this.proxy = proxy;
    this.clock = clock;
    this.workspace = workspace;
    this.config = config;
    this.watch = watch;
    this.threads = threads;
  }

  /**
   * Takes over a queued turn. One that was taken over already is left to that: a binding that is
   * made again finds a turn in the ledger's queue that was submitted a moment ago.
   */
  void launch(LiveBinding binding, TurnSnapshot queued) {
    RunningTurn turn = new RunningTurn(queued);
    if (running.putIfAbsent(queued.key(), turn) != null) {
      return;
    }
    Thread _ = threads.start("turn-" + queued.key().turnId(), () -> run(binding, turn));
  }

  /** Wishes for the end of a turn. False if it is not in memory: settled, or not launched yet. */
  boolean requestStop(TurnKey key, StopCause cause) {
    RunningTurn turn = running.get(key);
    if (turn == null) {
      return false;
    }
    stop(turn, cause);
    return true;
  }

  private void stop(RunningTurn turn, StopCause cause) {
    turn.requestStop(cause);
    clock.wake();
  }

  /** See {@link TurnWaiters#await}. */
  TurnSnapshot await(TurnKey key, Optional<Duration> within) throws InterruptedException {
    return waiters.await(key, within);
  }

  /** Settles a queued turn whose agent could not be had. */
  void settleWithoutAgent(TurnSnapshot queued, String reason) {
    settle(queued.key(), new TurnOutcomes(queued).noAgent(reason));
    waiters.signal(queued.key());
  }

  /**
   * Ends what memory holds of a session's turns, waits a while for that, and wakes all who wait for
   * one. Turns that are admitted later are not meant: end the session in the ledger first.
   */
  void stopAll(long sessionKey, StopCause cause, Duration within) throws InterruptedException {
    List<RunningTurn> open = ofSession(sessionKey);
    open.forEach(turn -> stop(turn, cause));
    long end = System.nanoTime() + within.toNanos();
    for (RunningTurn turn : open) {
      boolean _ = TurnWaiters.waitFor(turn.over(), Math.max(0, end - System.nanoTime()));
    }
    waiters.signalAll(sessionKey);
  }

  /** Turns of a session that wait for their time wait in vain. One at work tells by itself. */
  void agentLost(long sessionKey, String reason) {
    ofSession(sessionKey).forEach(turn -> turn.agentLost(reason));
    clock.wake();
  }

  private List<RunningTurn> ofSession(long sessionKey) {
    return running.values().stream()
        .filter(turn -> turn.turn().key().sessionKey() == sessionKey)
        .toList();
  }

  /** Ends all turns and waits for them. */
  void shutDown(Duration within) throws InterruptedException {
    shuttingDown = true;
    List<RunningTurn> open = List.copyOf(running.values());
    open.forEach(turn -> stop(turn, StopCause.SHUTDOWN));
    long end = System.nanoTime() + within.toNanos();
    for (RunningTurn turn : open) {
      await(turn.turn().key(), Optional.of(Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
    }
  }

  private void run(LiveBinding binding, RunningTurn turn) {
    TurnOutcomes outcomes = new TurnOutcomes(turn.turn());
    try {
      Optional<TurnOutcome> outcome;
      try {
        outcome = attempt(binding, turn, outcomes);
      } catch (RuntimeException bug) {
        LOG.log(System.Logger.Level.ERROR, "turn failed in our own code", bug);
        outcome = Optional.of(outcomes.unexpected(bug));
      }
      outcome.ifPresent(end -> settle(turn.turn().key(), end));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      running.remove(turn.turn().key(), turn);
      turn.ended();
      waiters.signal(turn.turn().key());
    }
  }

  /** Empty if somebody else settled the turn while it was queued. */
  private Optional<TurnOutcome> attempt(
      LiveBinding binding, RunningTurn turn, TurnOutcomes outcomes) throws InterruptedException {
    heedEarlierWishes(turn);
    if (!awaitMyTime(turn)) {
      return Optional.of(
          turn.stopCause()
              .map(outcomes::notStarted)
              .orElseGet(() -> outcomes.noAgent(turn.agentLost().orElseThrow())));
    }
    try {
      boolean started;
      try {
        started = ledger.start(turn.turn().key());
      } catch (Problem ledgerDown) {
        LOG.log(System.Logger.Level.WARNING, "turn could not be started: " + ledgerDown.text());
        return Optional.of(
            outcomes.noAgent("the ledger could not record the start: " + ledgerDown.text()));
      }
      return started
          ? Optional.of(drive(binding, turn, outcomes))
          : notToBeStarted(turn.turn().key(), outcomes);
    } finally {
      workspace.release();
    }
  }

  /**
   * Between its admission, in whichever boot, and this moment nobody could tell this thread
   * anything; what was wished for then is in the ledger, or in the flag of the shutdown.
   */
  private void heedEarlierWishes(RunningTurn turn) {
    if (ledger.reads().turn(turn.turn().key()).filter(TurnSnapshot::cancelRequested).isPresent()) {
      turn.requestStop(StopCause.CANCEL);
    }
    if (shuttingDown) {
      turn.requestStop(StopCause.SHUTDOWN);
    }
  }

  /** Empty if it is settled; else its session takes no turns any more, and it has no effect. */
  private Optional<TurnOutcome> notToBeStarted(TurnKey key, TurnOutcomes outcomes) {
    if (waiters.find(key).state().isSettled()) {
      return Optional.empty();
    }
    String reason =
        ledger.reads().session(key.sessionKey()).map(SessionSnapshot::stateReason).orElse("");
    return Optional.of(outcomes.noAgent("the session takes no turns any more: " + reason));
  }

  /**
   * Waits for the end of a pause and for the workspace. False, holding nothing, if the turn should
   * end instead.
   */
  private boolean awaitMyTime(RunningTurn turn) throws InterruptedException {
    while (turn.mayStart()) {
      if (!clock.awaitRunning(LOOK_EVERY) || !workspace.tryAcquire(LOOK_EVERY)) {
        continue;
      }
      if (!clock.isPaused() && turn.mayStart()) {
        return true;
      }
      workspace.release();
    }
    return false;
  }

  private TurnOutcome drive(LiveBinding binding, RunningTurn turn, TurnOutcomes outcomes)
      throws InterruptedException {
    TurnScope scope =
        proxy.openTurn(turn.turn().key(), TurnTrace.of(ledger.reads(), turn.turn().key()));
    try {
      AgentRun run =
          AgentRun.start(threads, binding.agent(), task(binding, turn, scope), turn, clock);
      CompletableFuture<?> _ =
          scope.stopDemanded().thenRun(() -> turn.requestStop(StopCause.STEPS));
      Optional<StopCause> cause = run.awaitEnd(binding.effective().backendTimeout());
      if (cause.isEmpty()) {
        return ended(binding, run.result(), scope, outcomes);
      }
      Agent.StopReport report = run.stop(config.stopWithin());
      Optional<AgentResult> late = run.resultWithin(config.stopWithin());
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

  private AgentTask task(LiveBinding binding, RunningTurn turn, TurnScope scope) {
    TurnKey key = turn.turn().key();
    return new AgentTask(
        key.turnId(),
        promptOf(turn.turn()),
        id -> ledger.backendSession(key.sessionKey(), id),
        binding.nextTraceSequence().get(),
        Optional.of(scope.agentKey()));
  }

  private static String promptOf(TurnSnapshot turn) {
    return Json.array(turn.requestJson()).getFirst() instanceof Map<?, ?> message
        ? String.valueOf(message.get("content"))
        : "";
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
