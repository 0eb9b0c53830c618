package dev.blackbox.control;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One directory per binding, under the runtime root: {@code bbs-<UTC yyyymmdd-HHMMSS>-<4 hex>}.
 * Scripts of users glob that name (reference server, sections 2.1 and 11).
 */
final class RuntimeDirectories {

  private static final System.Logger LOG = System.getLogger(RuntimeDirectories.class.getName());

  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss").withZone(ZoneOffset.UTC);

  /**
   * Suffix that marks the directory of a failed registration, kept so that its logs can be read.
   */
  private static final String FAILED = ".failed";

  private final SecureRandom random = new SecureRandom();

  /** Makes a new directory, mode 0700; its name is the binding's runtime id. */
  Path create(Path root, Instant now) throws IOException {
    Files.createDirectories(root);
    String name = "bbs-%s-%04x".formatted(STAMP.format(now), random.nextInt(1 << 16));
    return Files.createDirectory(
        root.resolve(name).toAbsolutePath(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /**
   * Sets the directory of a failed registration aside, and keeps at most {@code keepMax} of those.
   */
  void setAside(Path directory, int keepMax) {
    try {
      Files.move(directory, directory.resolveSibling(directory.getFileName() + FAILED));
      try (Stream<Path> siblings = Files.list(directory.resolveSibling(""))) {
        List<Path> failed =
            siblings
                .filter(path -> path.getFileName().toString().startsWith("bbs-"))
                .filter(path -> path.getFileName().toString().endsWith(FAILED))
                .sorted(
                    Comparator.comparing((Path path) -> path.getFileName().toString()).reversed())
                .toList();
        failed.stream().skip(keepMax).forEach(this::remove);
      }
    } catch (IOException failure) {
      LOG.log(System.Logger.Level.WARNING, "could not set aside " + directory, failure);
    }
  }

  /**
   * Removes a directory and all in it; links are removed, not followed. What cannot be removed is
   * logged.
   */
  void remove(Path directory) {
    if (!Files.exists(directory)) {
      return;
    }
    try {
      Files.walkFileTree(
          directory,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.deleteIfExists(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(
                Path visited, @org.jspecify.annotations.Nullable IOException failure)
                throws IOException {
              Files.deleteIfExists(visited);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failure) {
      LOG.log(System.Logger.Level.WARNING, "could not remove " + directory, failure);
    }
  }
}
