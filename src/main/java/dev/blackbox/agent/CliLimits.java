package dev.blackbox.agent;

import java.time.Duration;

/**
 * Bounds of one turn of a CLI agent.
 *
 * @param lineBytesMax longest line of standard output, which is one event
 * @param turnBytesMax most that one run may print
 * @param exitGrace how long a run may stay silent after its final event before it is ended
 * @param interruptGrace how long a run may take to end after SIGINT before all of it is killed
 */
public record CliLimits(
    int lineBytesMax, long turnBytesMax, Duration exitGrace, Duration interruptGrace) {

  /**
   * The longest line that was seen of the real programs is 240 KB; a line is several times its size
   * in memory while it is read. What a turn prints is on disk, in its log.
   */
  public static final CliLimits DEFAULT =
      new CliLimits(16 << 20, 256L << 20, Duration.ofSeconds(10), Duration.ofSeconds(3));
}
