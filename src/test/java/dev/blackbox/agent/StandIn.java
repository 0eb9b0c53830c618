package dev.blackbox.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A shell script in place of an agent program. It writes down how it was called, numbered by run,
 * then does what the test wants: the commands for run n, or those for all runs.
 */
public final class StandIn {

  public static final String PATH = "/usr/local/bin:/usr/bin:/bin";

  private final Path directory;

  /**
   * @param directory of the script and of what it writes down; belongs to it alone
   * @param version what it answers to {@code --version}
   */
  public StandIn(Path directory, String version) throws IOException {
    this.directory = directory;
    Files.writeString(
        program(),
        """
        #!/bin/sh
        if [ "$1" = --version ]; then echo '%s'; exit 0; fi
        D='%s'
        N=$(($(cat "$D/runs" 2>/dev/null || echo 0) + 1))
        echo $N > "$D/runs"
        : > "$D/arguments.$N"
        for A in "$@"; do printf '%%s\\n' "$A" >> "$D/arguments.$N"; done
        env > "$D/environment.$N"
        pwd > "$D/directory.$N"
        cat > "$D/input.$N"
        if [ -f "$D/commands.$N" ]; then . "$D/commands.$N"; else . "$D/commands"; fi
        """
            .formatted(version, directory));
    Files.setPosixFilePermissions(program(), PosixFilePermissions.fromString("rwx------"));
  }

  public Path program() {
    return directory.resolve("program");
  }

  /** What every run does. */
  public StandIn does(String commands) throws IOException {
    Files.writeString(directory.resolve("commands"), commands + "\n");
    return this;
  }

  /** What one run does. */
  public StandIn does(int run, String commands) throws IOException {
    Files.writeString(directory.resolve("commands." + run), commands + "\n");
    return this;
  }

  /** Shell commands that print these lines. */
  public static String print(String... lines) {
    return "cat <<'END-OF-LINES'\n" + String.join("\n", lines) + "\nEND-OF-LINES\n";
  }

  public int runs() throws IOException {
    Path file = directory.resolve("runs");
    return Files.exists(file) ? Integer.parseInt(Files.readString(file).strip()) : 0;
  }

  /** One per line, so for arguments without line breaks. */
  public List<String> arguments(int run) throws IOException {
    return Files.readAllLines(directory.resolve("arguments." + run));
  }

  public String input(int run) throws IOException {
    return Files.readString(directory.resolve("input." + run));
  }

  public Path workedIn(int run) throws IOException {
    return Path.of(Files.readString(directory.resolve("directory." + run)).strip());
  }

  public Map<String, String> environment(int run) throws IOException {
    Map<String, String> environment = new TreeMap<>();
    for (String line : Files.readAllLines(directory.resolve("environment." + run))) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        environment.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return environment;
  }
}
