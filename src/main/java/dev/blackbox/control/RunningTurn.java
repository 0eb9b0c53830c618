package dev.blackbox.control;

import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.turn.TurnSnapshot;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What memory holds of a turn that is not settled: the wish that it ends. The first wish counts.
 * Thread-safe.
 */
final class RunningTurn {

  private final TurnSnapshot turn;
  private final CompletableFuture<StopCause> stop = new CompletableFuture<>();

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

  Optional<StopCause> stopCause() {
    return stop.isDone() ? Optional.of(stop.join()) : Optional.empty();
  }
}
