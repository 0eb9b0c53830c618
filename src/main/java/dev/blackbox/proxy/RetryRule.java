package dev.blackbox.proxy;

import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * When a failed attempt is made again. The proxy is the one to be patient: an agent's own retry
 * costs a recorded step.
 */
final class RetryRule {

  private static final int DOUBLINGS_MAX = 20;

  private final ProxyConfig.Retries bounds;
  private final RandomGenerator random;

  RetryRule(ProxyConfig.Retries bounds, RandomGenerator random) {
    this.bounds = bounds;
    this.random = random;
  }

  /**
   * How long to wait before the next attempt; empty if there is to be none.
   *
   * @param before retries so far
   */
  Optional<Duration> delay(CallFailure failure, int before) {
    if (!failure.mayPass() || before >= bounds.max()) {
      return Optional.empty();
    }
    Optional<Duration> asked = failure.retryAfter();
    if (asked.isPresent()) {
      return asked.filter(wanted -> wanted.compareTo(bounds.delayMax()) <= 0);
    }
    long nanos = bounds.firstDelay().toNanos() << Math.min(before, DOUBLINGS_MAX);
    long bounded = Math.min(nanos, bounds.delayMax().toNanos());
    // Calls that failed together are not to come again together.
    return Optional.of(Duration.ofNanos((long) (bounded * (0.75 + 0.5 * random.nextDouble()))));
  }
}
