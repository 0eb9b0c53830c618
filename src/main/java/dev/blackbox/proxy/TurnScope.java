package dev.blackbox.proxy;

import dev.blackbox.kernel.Resource;
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
   * Completes, once, when a verdict is reached after which the agent should be stopped: the step
   * budget is used up.
   */
  CompletableFuture<Verdict> stopDemanded();

  /**
   * The gravest thing that a model call of this turn met, if any: context overflow, invalidation,
   * step budget, failure.
   */
  Optional<Verdict> verdict();

  /** Steps and tokens of the calls so far. */
  CallTotals totals();

  int callsInFlight();

  /** Waits until no call is in flight. False if there still is one when the time is over. */
  boolean drain(Duration within) throws InterruptedException;
}
