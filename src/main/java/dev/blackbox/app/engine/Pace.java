package dev.blackbox.app.engine;

import java.time.Duration;

/**
 * How an answer is spread over time.
 *
 * @param beforeFirst before the head of the answer
 * @param heartbeats comment events before the first real one
 * @param betweenEvents before each event but the first
 * @param chunkCharacters how much text one event carries, at least 1
 */
public record Pace(
    Duration beforeFirst, int heartbeats, Duration betweenEvents, int chunkCharacters) {

  /** At once; eight characters an event, as the recording proxy does it. */
  public static final Pace INSTANT = new Pace(Duration.ZERO, 0, Duration.ZERO, 8);

  public Pace {
    if (chunkCharacters < 1) {
      throw new IllegalArgumentException("chunkCharacters must be at least 1");
    }
  }
}
