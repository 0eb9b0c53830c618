package dev.blackbox.app.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The processes of this soak's agent: those that have the agent's path among their arguments, or in
 * the variable that the agent gives to all that it starts. Nobody else's processes have either.
 * Source of the formats: proc(5).
 */
final class MarkedProcesses {

  private static final Path PROC = Path.of("/proc");

  private final String argument;
  private final String variable;

  MarkedProcesses(Path agent) {
    argument = agent.toString();
    variable = marker(agent);
  }

  /** The variable, as it is given to a process. */
  static String marker(Path agent) {
    return "BBS_SOAK_AGENT=" + agent;
  }

  /**
   * A process, as no other process of the machine's life can be.
   *
   * @param command for people
   */
  record Marked(long pid, long startTicks, String command) {

    /** A process that ended but was not waited for (state Z) does not run. */
    boolean runs() {
      return start(pid).filter(ticks -> ticks == startTicks).isPresent();
    }

    /** SIGKILL, unless it ended. */
    void kill() {
      if (runs()) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
      }
    }

    @Override
    public String toString() {
      return "pid " + pid + " (" + command + ")";
    }
  }

  List<Marked> running() {
    List<Marked> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path entry : entries) {
        List<String> arguments = strings(entry.resolve("cmdline"));
        if (arguments.contains(argument) || strings(entry.resolve("environ")).contains(variable)) {
          long pid = Long.parseLong(entry.getFileName().toString());
          start(pid)
              .ifPresent(ticks -> found.add(new Marked(pid, ticks, String.join(" ", arguments))));
        }
      }
    } catch (IOException unreadable) {
      throw new UncheckedIOException("/proc cannot be listed", unreadable);
    }
    return found;
  }

  /** Ends all. Again and again, because one may be starting another. */
  void killAll() {
    List<Marked> left = running();
    for (int round = 0; round < 100 && !left.isEmpty(); round++) {
      left.forEach(Marked::kill);
      left = running();
    }
  }

  /** Clock ticks from the machine's start to the process's; empty if it is gone or a zombie. */
  private static Optional<Long> start(long pid) {
    try {
      String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
      // The name in field 2 may hold anything but ends with the last parenthesis; field 3 follows.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return fields[0].equals("Z") ? Optional.empty() : Optional.of(Long.parseLong(fields[19]));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  private static List<String> strings(Path file) {
    try {
      return List.of(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).split("\0"));
    } catch (IOException goneOrForeign) {
      return List.of();
    }
  }
}
