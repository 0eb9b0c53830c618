package dev.blackbox.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A process to start. It gets a session and group of its own, exactly this environment (plus the
 * two variables of {@link Processes} that recovery looks for), and an empty standard input unless
 * {@code input} is given.
 *
 * @param kind what it is for, for example {@code agent} or {@code command}; recorded, at most 32
 *     characters
 * @param command program and arguments; must hold no secret and no prompt
 * @param environment all variables; nothing is inherited
 * @param input a file that becomes its standard input; empty: {@code /dev/null}
 * @param stdout where its output goes
 * @param stderr where its errors go
 */
public record ProcessSpec(
    String kind,
    List<String> command,
    Path directory,
    Map<String, String> environment,
    Optional<Path> input,
    Output stdout,
    Output stderr) {

  public ProcessSpec {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }

  /**
   * Where a stream of a process goes. A file survives the death of our own process; a pipe ends the
   * child with it.
   */
  public sealed interface Output {

    /** Appended to this file. */
    record File(Path path) implements Output {}

    /**
     * Kept in memory: the first and last half of {@code bytesMax}, and a count of what was left out
     * between them.
     */
    record Captured(int bytesMax) implements Output {}
  }
}
