package dev.blackbox.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What docs/compatibility.md says of the contract probes: the tables there that end with a column
 * "Probes" name in it, comma by comma, the probes that each deliberate difference explains.
 */
final class AllowedDifferences {

  static final Path DOCUMENT = Path.of("docs/compatibility.md");

  private static final Pattern CELL_END = Pattern.compile("(?<!\\\\)\\|");
  private static final Pattern NAME = Pattern.compile("`[a-z*-]+/[A-Za-z0-9.*-]+`");

  /**
   * Probes that one difference explains.
   *
   * @param difference the first cell of the table's line
   * @param pattern {@code group/probe}, where {@code *} stands for any text
   */
  record Allowed(String difference, String pattern) {
    boolean explains(String probe) {
      String regex = Pattern.quote(pattern).replace("*", "\\E.*\\Q");
      return probe.matches(regex);
    }
  }

  private AllowedDifferences() {}

  static List<Allowed> read() throws IOException {
    return of(Files.readAllLines(DOCUMENT));
  }

  /**
   * @throws IllegalArgumentException if a cell has something else than names of probes
   */
  static List<Allowed> of(List<String> lines) {
    List<Allowed> all = new ArrayList<>();
    int probesColumn = -1;
    for (String line : lines) {
      String[] cells = line.startsWith("|") ? CELL_END.split(line.strip()) : new String[0];
      if (cells.length == 0) {
        probesColumn = -1;
      } else if (cells[cells.length - 1].strip().equals("Probes")) {
        probesColumn = cells.length - 1;
      } else if (probesColumn > 0 && cells.length > probesColumn && !cells[1].startsWith("-")) {
        addAll(all, cells[1].strip(), cells[probesColumn].strip());
      }
    }
    return List.copyOf(all);
  }

  private static void addAll(List<Allowed> all, String difference, String cell) {
    if (cell.isEmpty()) {
      return;
    }
    for (String name : cell.split(",", -1)) {
      if (!NAME.matcher(name.strip()).matches()) {
        throw new IllegalArgumentException(
            "\"%s\" of the difference \"%s\" is no `group/probe`".formatted(name, difference));
      }
      all.add(new Allowed(difference, name.strip().replace("`", "")));
    }
  }
}
