package dev.blackbox.proxy;

import java.nio.file.Path;

/**
 * Whether the bodies of model calls are kept, and where.
 *
 * @param directory made when needed, for its owner only
 * @param diskBytesMax of all files, the lists of what is gone included; the oldest go first
 * @param bodyBytesMax of one request, and of one answer; what is longer is cut
 * @param memoryBytesMax of bodies that wait: for the end of their call, or to be written; beyond it
 *     they are dropped, and counted
 * @param diskFreeBytesMin what the file system must have left; the oldest go for that, too, and
 *     then the new ones are dropped: the ledger comes first
 */
public record CaptureConfig(
    Mode mode,
    Path directory,
    long diskBytesMax,
    int bodyBytesMax,
    long memoryBytesMax,
    long diskFreeBytesMin) {

  /** Which calls. */
  public enum Mode {
    OFF,
    /** Those that did not go well. */
    ERRORS,
    ALL
  }

  /** Where they are in a state directory. */
  public static final String DIRECTORY_NAME = "captures";

  public static final CaptureConfig OFF = off(Path.of(DIRECTORY_NAME));

  /** None are kept; the bounds are the usual ones. */
  public static CaptureConfig off(Path directory) {
    return new CaptureConfig(Mode.OFF, directory, 256L << 20, 4 << 20, 32L << 20, 64L << 20);
  }
}
