package dev.blackbox.ledger;

import java.time.Duration;

/**
 * When sessions are trimmed: the oldest first, and never one that anything needs still ({@link
 * TrimVerbs}).
 *
 * @param bytesMax bytes on disk that the ledger may take; 0: any
 * @param ageMax how long a session is kept after it last changed; zero: for ever
 */
public record Retention(long bytesMax, Duration ageMax) {

  /** Everything is kept. */
  public static final Retention ALL = new Retention(0, Duration.ZERO);

  /** Trimming begins at this part of {@link #bytesMax}: its effect comes a little later. */
  private static final double BEGINS_AT = 0.8;

  /** H2's file does not shrink by what becomes free in it, so there is an end to this. */
  private static final double GOES_ON_TO = 0.6;

  public Retention {
    if (bytesMax < 0 || ageMax.isNegative()) {
      throw new IllegalArgumentException(
          "bytesMax and ageMax must not be below 0: " + bytesMax + ", " + ageMax);
    }
  }

  boolean hasAge() {
    return !ageMax.isZero();
  }

  boolean hasSize() {
    return bytesMax > 0;
  }

  /**
   * Bytes in use from which on sessions are trimmed.
   *
   * @param bytes that the files take: while they are above the limit, more is trimmed, so that they
   *     do not grow on
   */
  long bytesWanted(long bytes) {
    return (long) (bytesMax * (bytes > bytesMax ? GOES_ON_TO : BEGINS_AT));
  }
}
