package dev.blackbox.http;

import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Resource;
import java.util.Map;
import java.util.concurrent.Semaphore;

/** Counts what clients make the server hold, and refuses at once what would be too much. */
final class Limits {

  /** Bodies are counted in such steps. */
  static final int BODY_STEP_BYTES = 16 << 10;

  private final HttpConfig config;
  private final Semaphore requests;
  private final Semaphore longPolls;
  private final Semaphore bodySteps;

  Limits(HttpConfig config) {
    this.config = config;
    this.requests = new Semaphore(config.requestsMax());
    this.longPolls = new Semaphore(config.longPollsMax());
    this.bodySteps = new Semaphore(Math.toIntExact(config.bodiesBytesMax() / BODY_STEP_BYTES));
  }

  /** What one request holds until it is answered. Used by one thread. */
  final class Held implements Resource {
    private int steps;
    private boolean counted;

    /** Room for one more step of the body. */
    void bodyStep() {
      if (!bodySteps.tryAcquire()) {
        throw Problem.unavailable(
            "The server holds as many request bodies as it may; try again.",
            Map.of("bodies_bytes_max", config.bodiesBytesMax()));
      }
      steps++;
    }

    /** A place among the requests in work. */
    void request() {
      if (!requests.tryAcquire()) {
        throw Problem.unavailable(
            "The server works on as many requests as it may; try again.",
            Map.of("requests_max", config.requestsMax()));
      }
      counted = true;
    }

    @Override
    public void close() {
      bodySteps.release(steps);
      steps = 0;
      if (counted) {
        requests.release();
        counted = false;
      }
    }
  }

  Held hold() {
    return new Held();
  }

  /** A place among the polls that wait; given back by closing it. */
  Resource longPoll() {
    if (!longPolls.tryAcquire()) {
      throw Problem.unavailable(
          "As many polls wait as may; try again, or ask without wait.",
          Map.of("long_polls_max", config.longPollsMax()));
    }
    return longPolls::release;
  }
}
