package dev.blackbox.agent;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the program of a CLI agent and asks it, once per file, what version it is. What it answers
 * is recorded, whatever it is: stand-ins and wrappers say what they like. Thread-safe.
 */
public final class ProgramFinder {

  private static final Duration VERSION_MAX = Duration.ofSeconds(30);
  private static final int OUTPUT_BYTES_MAX = 4_000;
  private static final int VERSION_CHARACTERS_MAX = 200;

  private final String type;
  private final String product;
  private final String variable;
  private final String name;
  private final Map<String, String> environment;
  private final Processes processes;
  private final Map<Stamp, String> versions = new ConcurrentHashMap<>();

  /**
   * A program that was found.
   *
   * @param version the first line that {@code --version} printed; {@code unknown} if it printed
   *     nothing or failed
   */
  public record Found(Path path, String version) {}

  /** Changes when the file does. */
  private record Stamp(Path path, long size, long modifiedMillis) {}

  /**
   * @param type the backend's, for messages
   * @param product what to install, for messages
   * @param variable names the program in the server's own environment
   * @param name of the program on the path, if neither option nor variable names another
   * @param environment the server's own variables
   */
  public ProgramFinder(
      String type,
      String product,
      String variable,
      String name,
      Map<String, String> environment,
      Processes processes) {
    this.type = type;
    this.product = product;
    this.variable = variable;
    this.name = name;
    this.environment = environment;
    this.processes = processes;
  }

  /** The environment variable that names the program, for messages. */
  public String variable() {
    return variable;
  }

  /**
   * Looks at the option, the variable and the path, in this order; empty values count as unset.
   *
   * @param option the program that the caller chose
   * @throws Problem {@code backend_error} that names the variable
   */
  public Found find(Optional<String> option) {
    String chosen =
        option
            .filter(value -> !value.isEmpty())
            .orElse(environment.getOrDefault(variable, "").strip());
    Path path = locate(chosen.isEmpty() ? name : chosen);
    return new Found(path, version(path));
  }

  /** Whether a program can still be run. */
  public static boolean isRunnable(Path program) {
    return Files.isRegularFile(program) && Files.isExecutable(program);
  }

  private Path locate(String wanted) {
    try {
      Stream<Path> candidates =
          wanted.contains("/")
              ? Stream.of(Path.of(wanted))
              : Stream.of(environment.getOrDefault("PATH", "").split(":"))
                  .filter(entry -> !entry.isEmpty())
                  .map(entry -> Path.of(entry, wanted));
      Optional<Path> found =
          candidates.filter(ProgramFinder::isRunnable).findFirst().map(Path::toAbsolutePath);
      if (found.isPresent()) {
        return found.get();
      }
    } catch (InvalidPathException noPath) {
      // told below, like any other program that is not there
    }
    String where = wanted.contains("/") ? "no executable file" : "not on the PATH";
    throw problem(
        type
            + " binary not found. Set "
            + variable
            + " or install "
            + product
            + ". ("
            + wanted
            + " is "
            + where
            + ")",
        null);
  }

  private String version(Path path) {
    try {
      Stamp stamp = new Stamp(path, Files.size(path), Files.getLastModifiedTime(path).toMillis());
      String known = versions.get(stamp);
      if (known == null) {
        known = ask(path);
        versions.put(stamp, known);
      }
      return known;
    } catch (IOException | TimeoutException | ExecutionException failed) {
      String reason =
          failed instanceof TimeoutException
              ? "no answer within " + VERSION_MAX.toSeconds() + " s"
              : String.valueOf(failed.getMessage());
      throw problem(
          type
              + " at "
              + path
              + " cannot be asked for its version: "
              + reason
              + ". Set "
              + variable
              + " or install "
              + product
              + ".",
          failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw problem("interrupted while asking " + type + " for its version", interrupted);
    }
  }

  /** Runs it in a home of its own: some make directories there even for this question. */
  private String ask(Path path)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    Path home = Files.createTempDirectory("bbs-version-");
    try (ManagedProcess process =
        processes.start(
            new ProcessSpec(
                "probe",
                List.of(path.toString(), "--version"),
                home,
                Map.of("HOME", home.toString(), "PATH", environment.getOrDefault("PATH", "")),
                Optional.empty(),
                new ProcessSpec.Output.Captured(OUTPUT_BYTES_MAX),
                new ProcessSpec.Output.Captured(OUTPUT_BYTES_MAX)))) {
      int code = process.onExit().get(VERSION_MAX.toMillis(), TimeUnit.MILLISECONDS);
      String line = process.stdout().text().strip().lines().findFirst().orElse("");
      if (code != 0 || line.isEmpty()) {
        return "unknown";
      }
      return line.length() <= VERSION_CHARACTERS_MAX
          ? line
          : line.substring(0, VERSION_CHARACTERS_MAX);
    } finally {
      delete(home);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException failed) {
      throw new IOException(failed);
    }
  }

  private Problem problem(String message, @Nullable Throwable cause) {
    return new Problem(ErrorCode.BACKEND_ERROR, message, Map.of("blackbox_type", type), cause);
  }
}
