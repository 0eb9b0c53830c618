package dev.blackbox.ledger;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Directories of the crash rig, in memory where that is possible: forces are not what is measured.
 * What a failed test leaves there can be looked at until the rig runs again.
 */
public final class CrashDirectory {

  private static final Path MEMORY = Path.of("/dev/shm");
  private static final String PREFIX = "bbs-crash-pid";
  private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d{1,10})-.*");

  private static boolean looked;

  private CrashDirectory() {}

  /** A new one; {@link #delete} it. */
  public static Path make() throws IOException {
    Path parent = parent();
    synchronized (CrashDirectory.class) {
      if (!looked) {
        looked = true;
        removeLeft(parent);
      }
    }
    return Files.createTempDirectory(parent, PREFIX + ProcessHandle.current().pid() + "-")
        .toRealPath();
  }

  private static Path parent() {
    return Files.isDirectory(MEMORY) && Files.isWritable(MEMORY)
        ? MEMORY
        : Path.of(System.getProperty("java.io.tmpdir"));
  }

  /** Removes what processes left that are no more. */
  static void removeLeft(Path parent) throws IOException {
    List<Path> there;
    try (Stream<Path> files = Files.list(parent)) {
      there = files.toList();
    }
    for (Path each : there) {
      Matcher name = NAME.matcher(each.getFileName().toString());
      if (name.matches()
          && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()
          && Files.isWritable(each)) {
        delete(each);
      }
    }
  }

  public static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
