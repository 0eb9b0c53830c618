package dev.blackbox.proxy;

import dev.blackbox.kernel.Resource;
import dev.blackbox.kernel.Secret;
import dev.blackbox.turn.TurnKey;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The proxy's side of one turn: while it is open, calls of the bound agent count as this turn's.
 * Closing refuses further calls, ends those in flight and closes only this scope, never a later
 * one.
 */
public interface TurnScope extends Resource {

  TurnKey key();

  /**
   * What an agent that is started for this turn presents instead of the binding's key: calls with
   * it are refused once the turn is over, also while a later one is open.
   */
  Secret agentKey();

  /**
   * Completes, once, when a verdict is reached after which the agent should be stopped: the step
   * budget is used up. Completes before the agent hears of it, on the thread of its call: what
   * hangs on it must be quick, or asynchronous.
   */
  CompletableFuture<Verdict> stopDemanded();

  /**
   * The gravest thing that a model call of this turn met, if any; {@link Verdict} has the order.
   */
  Optional<Verdict> verdict();

  /** Steps and tokens of the calls so far. */
  CallTotals totals();

  /** Calls that were let in and are not over, without those that wait at the door. */
  int callsInFlight();

  /**
   * Waits until no call is in flight; all that were are recorded then. False if there still is one
   * when the time is over.
   */
  boolean drain(Duration within) throws InterruptedException;
}
