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

  private final Path directory;
  private final long fileBytesMax;

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
        Optional<String> line =
            lines.filter(each -> each.contains(" " + callId)).reduce((_, last) -> last);
        if (line.isPresent()) {
          return line.map(GoneCalls::tale);
        }
      }
    }
    return Optional.empty();
  }

  private static String tale(String line) {
    String[] words = line.split(" ", 4);
    return words[1].equals("deleted")
        ? "were kept, and deleted at " + words[0] + " to make room"
        : "could not be kept at " + words[0] + ": " + (words.length > 3 ? words[3] : "");
  }

  private void add(String line) {
    Path file = directory.resolve(FILE);
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      long length = Files.exists(file) ? Files.size(file) : 0;
      if (length > 0 && length + bytes.length > fileBytesMax) {
        Files.move(
            file,
            directory.resolve(FILE_BEFORE),
            StandardCopyOption.ATOMIC_MOVE,
            StandardCopyOption.REPLACE_EXISTING);
      }
      if (!Files.exists(file)) {
        CaptureFiles.created(file).close();
      }
      Files.write(file, bytes, StandardOpenOption.APPEND);
    } catch (IOException failed) {
      LOG.log(System.Logger.Level.DEBUG, "a call without bodies is not listed", failed);
    }
  }
}
