package dev.blackbox.control;

import dev.blackbox.kernel.Resource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Looks at the bound agent from time to time, and at request. Owns one virtual thread. Goes on
 * looking after an error, so that a new binding is watched too.
 */
final class HealthMonitor implements Resource {

  private static final System.Logger LOG = System.getLogger(HealthMonitor.class.getName());

  private final Supplier<Optional<LiveBinding>> current;
  private final GoneListener listener;
  private final Thread thread;

  /** Is told once the looks at an agent have failed for good. */
  interface GoneListener {
    void agentGone(LiveBinding binding, String reason);
  }

  HealthMonitor(
      Supplier<Optional<LiveBinding>> current,
      double idleSeconds,
      GoneListener listener,
      Threads threads) {
    this.current = current;
    this.listener = listener;
    this.thread = threads.start("health-monitor", () -> watch(idleSeconds));
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

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch(double idleSeconds) {
    try {
      while (true) {
        double pause =
            current
                .get()
                .map(binding -> binding.effective().runtimeHealthCheckInterval())
                .orElse(idleSeconds);
        Thread.sleep(Durations.ofSeconds(pause));
        Optional<LiveBinding> binding = current.get();
        if (binding.isPresent() && !healthy(binding.get()) && current.get().equals(binding)) {
          listener.agentGone(binding.get(), "the agent does not answer its health check");
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
