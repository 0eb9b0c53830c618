package dev.blackbox.control;

import java.time.Duration;

/** Seconds with a fraction, as settings and requests have them. */
final class Durations {

  /**
   * Longest duration that is taken at its word: a hundred years, which no clock here overflows on.
   */
  private static final double SECONDS_MAX = 3.2e9;

  private Durations() {}

  static Duration ofSeconds(double seconds) {
    return Duration.ofNanos((long) (Math.min(seconds, SECONDS_MAX) * 1e9));
  }
}
