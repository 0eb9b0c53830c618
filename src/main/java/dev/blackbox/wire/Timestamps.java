package dev.blackbox.wire;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/**
 * Times on the wire: UTC, ISO 8601, always six digits of fraction and a {@code Z}, as the reference
 * server writes them.
 */
public final class Timestamps {

  private static final DateTimeFormatter ISO_MICROSECONDS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private Timestamps() {}

  public static String iso(Instant instant) {
    return ISO_MICROSECONDS.format(instant);
  }
}
