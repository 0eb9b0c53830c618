package dev.blackbox.control;

import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.turn.TurnSnapshot;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What memory holds of a turn that is not settled: the wish that it ends, and whether there still
 * is an agent for it. The first wish counts. Thread-safe.
 */
final class RunningTurn {

  private final TurnSnapshot turn;
  private final CompletableFuture<StopCause> stop = new CompletableFuture<>();
  private final CompletableFuture<String> agentLost = new CompletableFuture<>();
  private final AtomicBoolean decided = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> over = new CompletableFuture<>();

  RunningTurn(TurnSnapshot turn) {
    this.turn = turn;
  }

  TurnSnapshot turn() {
    return turn;
  }

  void requestStop(StopCause cause) {
    stop.complete(cause);
  }

  CompletableFuture<StopCause> stopRequested() {
    return stop;
  }

  void agentLost(String reason) {
    agentLost.complete(reason);
  }

  /** Why there is no agent any more, if so. */
  Optional<String> agentLost() {
    return agentLost.isDone() ? Optional.of(agentLost.join()) : Optional.empty();
  }

  /** True for the first who asks: the agent's thread, or one that keeps the turn from the agent. */
  boolean decide() {
    return decided.compareAndSet(false, true);
  }

  boolean mayStart() {
    return !stop.isDone() && !agentLost.isDone();
  }

  /** Its thread does nothing more. */
  void ended() {
    over.complete(null);
  }

  CompletableFuture<@Nullable Void> over() {
    return over;
  }

  Optional<StopCause> stopCause() {
    return stop.isDone() ? Optional.of(stop.join()) : Optional.empty();
  }
}
