package dev.blackbox.control;

import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Those who wait for a turn's end. Thread-safe. */
final class TurnWaiters {

  private final Ledger ledger;
  private final Map<TurnKey, CompletableFuture<@Nullable Void>> signals = new ConcurrentHashMap<>();

  TurnWaiters(Ledger ledger) {
    this.ledger = ledger;
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
          signals.computeIfAbsent(key, _ -> new CompletableFuture<>());
      // The turn may have settled between the look and the wish to be woken: look once more, or
      // wait for ever.
      now = find(key);
      if (now.state().isSettled()) {
        // Others may wait for the same signal, and whoever settled the turn finds it no more.
        signal(key);
        return now;
      }
      long leftNanos = within.isPresent() ? end - System.nanoTime() : Long.MAX_VALUE;
      if (leftNanos <= 0 || !waitFor(signal, leftNanos)) {
        return find(key);
      }
    }
  }

  /** Wakes those who wait for a turn, to have them look at it. */
  void signal(TurnKey key) {
    CompletableFuture<@Nullable Void> signal = signals.remove(key);
    if (signal != null) {
      signal.complete(null);
    }
  }

  /** The same for all turns of a session. */
  void signalAll(long sessionKey) {
    signals.keySet().stream().filter(key -> key.sessionKey() == sessionKey).forEach(this::signal);
  }

  TurnSnapshot find(TurnKey key) {
    return ledger
        .reads()
        .turn(key)
        .orElseThrow(
            () ->
                Problem.notFound("Turn does not exist.", Map.of("turn_id", key.turnId().value())));
  }

  /** False if the time was over first. */
  static boolean waitFor(CompletableFuture<?> signal, long nanos) throws InterruptedException {
    try {
      signal.get(nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("signals complete normally", impossible);
    }
  }
}
