package dev.blackbox.control;

import dev.blackbox.kernel.Resource;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the bound agent from time to time, and at request. Owns one virtual thread. Goes on
 * looking whatever happens, so that a new binding is watched too. An agent that has a turn is never
 * found dead here: a busy one may not answer, and if it does die, its turn tells.
 */
final class HealthMonitor implements Resource {

  private static final System.Logger LOG = System.getLogger(HealthMonitor.class.getName());

  /**
   * Between two looks for an agent while there is none: short, so that a new one is watched at its
   * own interval from the start, and cheap, since nothing but memory is looked at.
   */
  private static final Duration IDLE = Duration.ofMillis(250);

  private final Supplier<Optional<LiveBinding>> current;
  private final Predicate<LiveBinding> busy;
  private final GoneListener listener;
  private final InstantSource clock;
  private final Thread thread;
  private volatile @Nullable Seen lastSeen;

  /** A look that succeeded. */
  private record Seen(LiveBinding binding, Instant at) {}

  /** Is told once the looks at an agent have failed for good. */
  interface GoneListener {
    void agentGone(LiveBinding binding, String reason);
  }

  /**
   * @param current the agent to watch, if there is one
   * @param busy whether it has a turn
   */
  HealthMonitor(
      Supplier<Optional<LiveBinding>> current,
      Predicate<LiveBinding> busy,
      GoneListener listener,
      InstantSource clock,
      Threads threads) {
    this.current = current;
    this.busy = busy;
    this.listener = listener;
    this.clock = clock;
    this.thread = threads.start("health-monitor", this::watch);
  }

  /**
   * True if one of the configured number of looks succeeds. A look that throws counts as failed.
   */
  static boolean healthy(LiveBinding binding) throws InterruptedException {
    ServerSettings settings = binding.effective();
    for (int look = 1; look <= settings.runtimeHealthCheckRetries(); look++) {
      if (look > 1) {
        Thread.sleep(Durations.ofSeconds(settings.runtimeHealthCheckRetryDelay()));
      }
      try {
        if (binding.agent().healthy()) {
          return true;
        }
      } catch (RuntimeException failure) {
        LOG.log(System.Logger.Level.DEBUG, "a look at the agent failed", failure);
      }
    }
    return false;
  }

  /** When it last answered; empty if it was not looked at yet. */
  Optional<Instant> lastSeenHealthy(LiveBinding binding) {
    return Optional.ofNullable(lastSeen)
        .filter(seen -> seen.binding().equals(binding))
        .map(Seen::at);
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(
            current
                .get()
                .map(
                    binding ->
                        Durations.ofSeconds(binding.effective().runtimeHealthCheckInterval()))
                .orElse(IDLE));
        try {
          Optional<LiveBinding> binding = current.get();
          if (binding.isPresent()) {
            look(binding.get());
          }
        } catch (RuntimeException failure) {
          LOG.log(System.Logger.Level.WARNING, "the agent could not be watched", failure);
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void look(LiveBinding binding) throws InterruptedException {
    boolean busyBefore = busy.test(binding);
    if (healthy(binding)) {
      lastSeen = new Seen(binding, clock.instant());
    } else if (!busyBefore && !busy.test(binding) && current.get().equals(Optional.of(binding))) {
      listener.agentGone(binding, "the agent does not answer its health check");
    }
  }
}
