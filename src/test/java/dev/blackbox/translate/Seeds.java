package dev.blackbox.translate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Seeds of property tests. Those that failed here are kept in {@code target/failing-seeds.txt} and
 * come first in the next run; those that once showed a bug are in {@code seeds.txt} of this
 * package, for good. A line is the name of the property and its seed.
 */
final class Seeds {

  private static final Path FAILED = Path.of("target/failing-seeds.txt");
  private static final Path KEPT = Path.of("src/test/resources/dev/blackbox/translate/seeds.txt");

  /** One run of a property. */
  @FunctionalInterface
  interface Property {
    void holds(RandomTalk random) throws Exception;
  }

  private Seeds() {}

  /** Runs a property with the seeds that are kept, and with so many new ones. */
  static void check(String name, int count, Property property) throws Exception {
    Set<Long> seeds = new LinkedHashSet<>(read(KEPT, name));
    seeds.addAll(read(FAILED, name));
    long first = System.nanoTime();
    for (int i = 0; i < count; i++) {
      seeds.add(first + i);
    }
    for (long seed : seeds) {
      try {
        property.holds(new RandomTalk(seed));
      } catch (Exception | AssertionError failed) {
        Files.writeString(
            FAILED, name + " " + seed + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        throw new AssertionError(
            name + " fails with seed " + seed + ", which is kept in " + FAILED, failed);
      }
    }
  }

  private static List<Long> read(Path file, String name) {
    try {
      return Files.exists(file)
          ? Files.readAllLines(file).stream()
              .filter(line -> line.startsWith(name + " "))
              .map(line -> Long.parseLong(line.substring(name.length() + 1)))
              .toList()
          : List.of();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
