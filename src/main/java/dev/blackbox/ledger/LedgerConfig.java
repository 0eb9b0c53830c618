package dev.blackbox.ledger;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Where and how the ledger keeps its files.
 *
 * @param directory the state directory; made with mode 0700 if it is not there
 * @param sync what a commit survives
 * @param queueMax verbs that may wait for the writer, and as many reads for a connection; beyond it
 *     callers get 503 at once
 * @param checkpointBytes journal bytes after which the database is forced and a new segment begins
 * @param checkpointEvery time after which the same happens, if anything was written
 * @param readConnections connections for reads
 * @param recentReadsBytesMax memory for sessions and turns that were read lately; 0: none
 * @param retention which sessions are kept
 */
public record LedgerConfig(
    Path directory,
    Sync sync,
    int queueMax,
    long checkpointBytes,
    Duration checkpointEvery,
    int readConnections,
    long recentReadsBytesMax,
    Retention retention) {

  /** Memory for what was read lately, where nobody says otherwise. */
  public static final long RECENT_READS_BYTES_MAX = 4L << 20;

  private static final int SEGMENTS_PER_BUDGET = 32;
  private static final long SEGMENT_BYTES_MIN = 64L << 10;

  public LedgerConfig {
    if (queueMax < 1
        || checkpointBytes < 1
        || !checkpointEvery.isPositive()
        || readConnections < 1
        || recentReadsBytesMax < 0) {
      throw new IllegalArgumentException(
          "queueMax, checkpointBytes, checkpointEvery and readConnections must be above 0, and"
              + " recentReadsBytesMax not below: "
              + queueMax
              + ", "
              + checkpointBytes
              + ", "
              + checkpointEvery
              + ", "
              + readConnections
              + ", "
              + recentReadsBytesMax);
    }
  }

  /** As the full form; everything is kept. */
  public LedgerConfig(
      Path directory,
      Sync sync,
      int queueMax,
      long checkpointBytes,
      Duration checkpointEvery,
      int readConnections,
      long recentReadsBytesMax) {
    this(
        directory,
        sync,
        queueMax,
        checkpointBytes,
        checkpointEvery,
        readConnections,
        recentReadsBytesMax,
        Retention.ALL);
  }

  /** The same, but other sessions are kept. */
  public LedgerConfig keeping(Retention other) {
    return new LedgerConfig(
        directory,
        sync,
        queueMax,
        checkpointBytes,
        checkpointEvery,
        readConnections,
        recentReadsBytesMax,
        other);
  }

  /** As the full form, with {@link #RECENT_READS_BYTES_MAX}. */
  public LedgerConfig(
      Path directory,
      Sync sync,
      int queueMax,
      long checkpointBytes,
      Duration checkpointEvery,
      int readConnections) {
    this(
        directory,
        sync,
        queueMax,
        checkpointBytes,
        checkpointEvery,
        readConnections,
        RECENT_READS_BYTES_MAX);
  }

  public static LedgerConfig at(Path directory) {
    return new LedgerConfig(
        directory, Sync.POWER, 4096, 8L << 20, Duration.ofSeconds(30), 4, RECENT_READS_BYTES_MAX);
  }

  /**
   * Bytes of facts after which a segment is full. With a small budget fewer than {@link
   * #checkpointBytes}: what was trimmed is taken out of full segments only.
   */
  long segmentBytes() {
    return retention.hasSize()
        ? Math.min(
            checkpointBytes,
            Math.max(SEGMENT_BYTES_MIN, retention.bytesMax() / SEGMENTS_PER_BUDGET))
        : checkpointBytes;
  }

  /** What a commit survives. */
  public enum Sync {
    /** Forced to the disk before anybody is told: survives a power cut. */
    POWER,
    /**
     * Handed to the operating system before anybody is told: survives the death of our process, not
     * of the machine.
     */
    PROCESS
  }
}
