package dev.blackbox.control;

import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.turn.CommandSnapshot;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What memory holds of a command that is not settled: the wish that it ends. The first counts. */
record RunningCommand(CommandSnapshot command, CompletableFuture<StopCause> stopRequested) {

  RunningCommand(CommandSnapshot command) {
    this(command, new CompletableFuture<>());
  }

  void requestStop(StopCause cause) {
    stopRequested.complete(cause);
  }

  Optional<StopCause> stopCause() {
    return stopRequested.isDone() ? Optional.of(stopRequested.join()) : Optional.empty();
  }
}
