package dev.blackbox.control;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.turn.Work;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * An agent at work on a turn, on a thread of its own. To be used by the turn's thread, which waits
 * for its end or brings it about.
 */
final class AgentRun {

  private static final System.Logger LOG = System.getLogger(AgentRun.class.getName());

  /** How long after a stop that found nothing to stop the agent is told again. */
  private static final Duration STOP_AGAIN_AFTER = Duration.ofMillis(10);

  private final Agent agent;
  private final RunningTurn turn;
  private final PauseClock clock;
  private final CompletableFuture<AgentResult> result = new CompletableFuture<>();

  private AgentRun(Agent agent, RunningTurn turn, PauseClock clock) {
    this.agent = agent;
    this.turn = turn;
    this.clock = clock;
  }

  /** Gives the agent the turn, unless the turn is to be stopped before that thread comes to it. */
  static AgentRun start(
      Threads threads, Agent agent, AgentTask task, RunningTurn turn, PauseClock clock) {
    AgentRun run = new AgentRun(agent, turn, clock);
    Thread _ = threads.start("agent-" + task.turnId(), () -> run.work(task));
    return run;
  }

  private void work(AgentTask task) {
    try {
      result.complete(turn.decide() ? agent.run(task) : new AgentResult.Stopped(Work.NONE));
    } catch (RuntimeException bug) {
      LOG.log(System.Logger.Level.ERROR, "agent adapter failed in our own code", bug);
      result.complete(
          new AgentResult.Broken(
              AgentResult.Kind.UNEXPECTED, bug.getClass().getSimpleName(), Work.NONE));
    }
  }

  /**
   * Waits for the agent's end; if something else came first, says what. Pauses do not count against
   * the limit.
   */
  Optional<StopCause> awaitEnd(double timeoutSeconds) throws InterruptedException {
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
      long sliceNanos =
          clock.isPaused() ? Math.max(leftNanos, TurnEngine.LOOK_EVERY.toNanos()) : leftNanos;
      if (TurnWaiters.waitFor(either, sliceNanos)) {
        return result.isDone() ? stepsOnly() : turn.stopCause();
      }
    }
  }

  /**
   * If the agent ended and the step budget was used up at once, the budget wins, as in the
   * reference.
   */
  private Optional<StopCause> stepsOnly() {
    return turn.stopCause().filter(cause -> cause == StopCause.STEPS);
  }

  /**
   * An agent that has not been given the turn does not get it any more. One that has, but has not
   * begun yet, finds nothing to stop, so it is told until it returns.
   */
  Agent.StopReport stop(Duration within) throws InterruptedException {
    if (turn.decide()) {
      return Agent.StopReport.NOTHING;
    }
    long end = System.nanoTime() + within.toNanos();
    Agent.StopReport report = agent.stop(within);
    while (!report.stoppedSomething()
        && resultWithin(STOP_AGAIN_AFTER).isEmpty()
        && System.nanoTime() < end) {
      report = agent.stop(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
    }
    return report;
  }

  /** What it came to; waits for it. */
  AgentResult result() {
    return result.join();
  }

  /** What it came to; empty if that takes longer. */
  Optional<AgentResult> resultWithin(Duration within) throws InterruptedException {
    return TurnWaiters.waitFor(result, within.toNanos())
        ? Optional.of(result.join())
        : Optional.empty();
  }
}
