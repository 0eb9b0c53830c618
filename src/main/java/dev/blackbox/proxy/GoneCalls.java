package dev.blackbox.proxy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A list of calls whose bodies were kept and are deleted, or could not be kept: a line each, in a
 * file that becomes {@code gone-before} when it is full, in the place of the one before. For one
 * thread; may be read by any.
 */
final class GoneCalls {

  static final String FILE = "gone";
  static final String FILE_BEFORE = "gone-before";

  private static final System.Logger LOG = System.getLogger(GoneCalls.class.getName());
  private static final int WHY_CHARS_MAX = 200;

  /** What a full disk cut off may stand before it. */
  private static final Pattern ENTRY =
      Pattern.compile("([0-9][0-9TZ:.-]*Z) (deleted|lost) ([0-9a-f-]{36})(.*)$");

  /** Below the smallest {@code fileBytesMax}. */
  private static final int UNWRITTEN_CHARS_MAX = 3000;

  private final Path directory;
  private final long fileBytesMax;

  /** Lines that a full disk did not take; tried again with the next one. */
  private final StringBuilder unwritten = new StringBuilder();

  /**
   * @param fileBytesMax of each of the two files
   */
  GoneCalls(Path directory, long fileBytesMax) {
    this.directory = directory;
    this.fileBytesMax = fileBytesMax;
  }

  /** They were kept, and are deleted to make room. */
  void deleted(String callId, Instant at) {
    add(at + " deleted " + callId);
  }

  /** They could not be kept. */
  void lost(String callId, Instant at, String why) {
    String line = why.replaceAll("\\p{Cntrl}", " ");
    add(at + " lost " + callId + " " + line.substring(0, Math.min(WHY_CHARS_MAX, line.length())));
  }

  /** What became of the bodies of a call, for people; empty if it is not (or no longer) listed. */
  static Optional<String> tale(Path directory, String callId) throws IOException {
    for (String name : List.of(FILE, FILE_BEFORE)) {
      Path file = directory.resolve(name);
      if (!Files.exists(file)) {
        continue;
      }
      // What was cut off by a crash may be no text.
      try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
        Optional<String> tale =
            lines.flatMap(each -> taleIn(each, callId).stream()).reduce((_, last) -> last);
        if (tale.isPresent()) {
          return tale;
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> taleIn(String line, String callId) {
    Matcher entry = ENTRY.matcher(line);
    if (!entry.find() || !entry.group(3).equals(callId)) {
      return Optional.empty();
    }
    return Optional.of(
        entry.group(2).equals("deleted")
            ? "were kept, and deleted at " + entry.group(1) + " to make room"
            : "could not be kept at " + entry.group(1) + ": " + entry.group(4).strip());
  }

  private void add(String line) {
    unwritten.append(line).append('\n');
    try {
      write(unwritten.toString().getBytes(StandardCharsets.UTF_8));
      unwritten.setLength(0);
    } catch (IOException failed) {
      LOG.log(System.Logger.Level.DEBUG, "a call without bodies is not listed yet", failed);
      if (unwritten.length() > UNWRITTEN_CHARS_MAX) {
        unwritten.setLength(0);
      }
    }
  }

  private void write(byte[] lines) throws IOException {
    Path file = directory.resolve(FILE);
    long length = Files.exists(file) ? Files.size(file) : 0;
    if (length > 0 && length + lines.length > fileBytesMax) {
      Files.move(
          file,
          directory.resolve(FILE_BEFORE),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    }
    if (!Files.exists(file)) {
      CaptureFiles.created(file).close();
    }
    Files.write(file, lines, StandardOpenOption.APPEND);
  }
}
