package dev.blackbox.wire;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that an agent reported during a turn, in its own words.
 *
 * @param seq rises by at least one within a session
 * @param source the backend type
 */
public record TraceEvent(
    String turnId,
    long seq,
    String source,
    String eventType,
    Map<String, @Nullable Object> payload,
    String createdAt) {

  public static TraceEvent of(
      String turnId,
      long seq,
      String source,
      String eventType,
      Map<String, @Nullable Object> payload,
      Instant at) {
    return new TraceEvent(turnId, seq, source, eventType, payload, Timestamps.iso(at));
  }
}
