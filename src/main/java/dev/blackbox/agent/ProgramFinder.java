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
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the program of an agent and asks it, once per file, what version it is. What it answers is
 * recorded in the configuration hash; versions that are known not to work are refused. Thread-safe.
 */
public final class ProgramFinder {

  private static final Duration VERSION_MAX = Duration.ofSeconds(30);
  private static final int OUTPUT_BYTES_MAX = 4_000;
  private static final int VERSION_CHARACTERS_MAX = 200;

  private static final int ERRORS_CHARACTERS_MAX = 400;

  private final Wanted wanted;
  private final Map<String, String> environment;
  private final Processes processes;
  private final Map<Stamp, Answer> answers = new ConcurrentHashMap<>();

  /**
   * What is looked for.
   *
   * @param type the backend's, for messages
   * @param product what to install, for messages
   * @param variable names the program in the server's own environment
   * @param name of the program on the path, if neither option nor variable names another
   * @param versions which can be driven
   * @param tools directories with what this program needs to run, which come before those of the
   *     path; of the program that was found
   */
  public record Wanted(
      String type,
      String product,
      String variable,
      String name,
      Versions versions,
      Function<Path, List<Path>> tools) {}

  /**
   * Which versions can be driven.
   *
   * @param tested the one that the tests with the real program use
   * @param others which others should do, as a phrase
   * @param isGood told what {@code --version} printed, or {@code unknown}
   */
  public record Versions(String tested, String others, Predicate<String> isGood) {

    /** All, also those of stand-ins and wrappers, which say what they like. */
    public static final Versions ANY = new Versions("", "", _ -> true);

    /**
     * All but those of the program itself that are too old.
     *
     * @param own what the program itself prints; its first group is the number that is compared
     */
    public static Versions allButOld(String tested, String others, Pattern own, int min) {
      return new Versions(
          tested,
          others,
          printed -> {
            Matcher matcher = own.matcher(printed);
            return !matcher.matches() || Integer.parseInt(matcher.group(1)) >= min;
          });
    }
  }

  /**
   * A program that was found.
   *
   * @param version the first line that {@code --version} printed; {@code unknown} if it printed
   *     nothing or failed
   * @param searchPath the path on which it finds what it needs
   */
  public record Found(Path path, String version, String searchPath) {

    /** For the configuration hash. */
    public Map<String, String> identity() {
      return Map.of("program", path.toString(), "version", version);
    }
  }

  /** Changes when the file does. */
  private record Stamp(Path path, long size, long modifiedMillis, String searchPath) {}

  /**
   * @param errors why there is no version; empty if there is one
   */
  private record Answer(String version, String errors) {}

  /**
   * @param environment the server's own variables
   */
  public ProgramFinder(Wanted wanted, Map<String, String> environment, Processes processes) {
    this.wanted = wanted;
    this.environment = environment;
    this.processes = processes;
  }

  /** Of a program that needs nothing else, and of which any version will do. */
  public ProgramFinder(
      String type,
      String product,
      String variable,
      String name,
      Map<String, String> environment,
      Processes processes) {
    this(
        new Wanted(type, product, variable, name, Versions.ANY, _ -> List.of()),
        environment,
        processes);
  }

  /** The environment variable that names the program, for messages. */
  public String variable() {
    return wanted.variable();
  }

  /**
   * Looks at the option, the variable and the path, in this order; empty values count as unset.
   *
   * @param option the program that the caller chose
   * @throws Problem {@code backend_error} that names the variable, or the versions that work
   */
  public Found find(Optional<String> option) {
    String chosen =
        option
            .filter(value -> !value.isEmpty())
            .orElse(environment.getOrDefault(wanted.variable(), "").strip());
    Path path = locate(chosen.isEmpty() ? wanted.name() : chosen);
    String searchPath = searchPath(path);
    Answer answer = version(path, searchPath);
    if (!wanted.versions().isGood().test(answer.version())) {
      throw problem(
          wanted.type()
              + " "
              + answer.version()
              + " at "
              + path
              + " cannot be driven: "
              + wanted.versions().tested()
              + " is tested, and "
              + wanted.versions().others()
              + " should do. Install "
              + wanted.product()
              + " or let "
              + wanted.variable()
              + " name another program."
              + (answer.errors().isEmpty() ? "" : " (" + answer.errors() + ")"),
          null);
    }
    return new Found(path, answer.version(), searchPath);
  }

  private String searchPath(Path program) {
    StringJoiner directories = new StringJoiner(":");
    wanted.tools().apply(program).forEach(directory -> directories.add(directory.toString()));
    String path = environment.getOrDefault("PATH", "");
    if (!path.isEmpty()) {
      directories.add(path);
    }
    return directories.toString();
  }

  /** Whether a program can still be run. */
  public static boolean isRunnable(Path program) {
    return Files.isRegularFile(program) && Files.isExecutable(program);
  }

  private Path locate(String given) {
    try {
      Stream<Path> candidates =
          given.contains("/")
              ? Stream.of(Path.of(given))
              : Stream.of(environment.getOrDefault("PATH", "").split(":"))
                  .filter(entry -> !entry.isEmpty())
                  .map(entry -> Path.of(entry, given));
      Optional<Path> found =
          candidates.filter(ProgramFinder::isRunnable).findFirst().map(Path::toAbsolutePath);
      if (found.isPresent()) {
        return found.get();
      }
    } catch (InvalidPathException noPath) {
      // told below, like any other program that is not there
    }
    String where = given.contains("/") ? "no executable file" : "not on the PATH";
    throw problem(
        wanted.type()
            + " binary not found. Set "
            + wanted.variable()
            + " or install "
            + wanted.product()
            + ". ("
            + given
            + " is "
            + where
            + ")",
        null);
  }

  private Answer version(Path path, String searchPath) {
    try {
      Stamp stamp =
          new Stamp(path, Files.size(path), Files.getLastModifiedTime(path).toMillis(), searchPath);
      Answer known = answers.get(stamp);
      if (known == null) {
        known = ask(path, searchPath);
        answers.put(stamp, known);
      }
      return known;
    } catch (IOException | TimeoutException | ExecutionException failed) {
      String reason =
          failed instanceof TimeoutException
              ? "no answer within " + VERSION_MAX.toSeconds() + " s"
              : String.valueOf(failed.getMessage());
      throw problem(
          wanted.type()
              + " at "
              + path
              + " cannot be asked for its version: "
              + reason
              + ". Set "
              + wanted.variable()
              + " or install "
              + wanted.product()
              + ".",
          failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw problem("interrupted while asking " + wanted.type() + " for its version", interrupted);
    }
  }

  /** Runs it in a home of its own: some make directories there even for this question. */
  private Answer ask(Path path, String searchPath)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    Path home = Files.createTempDirectory("bbs-version-");
    try (ManagedProcess process =
        processes.start(
            new ProcessSpec(
                "probe",
                List.of(path.toString(), "--version"),
                home,
                Map.of("HOME", home.toString(), "PATH", searchPath),
                Optional.empty(),
                new ProcessSpec.Output.Captured(OUTPUT_BYTES_MAX),
                new ProcessSpec.Output.Captured(OUTPUT_BYTES_MAX)))) {
      int code = process.onExit().get(VERSION_MAX.toMillis(), TimeUnit.MILLISECONDS);
      String line = process.stdout().text().strip().lines().findFirst().orElse("");
      if (code != 0 || line.isEmpty()) {
        String errors = Texts.compact(process.stderr().text(), ERRORS_CHARACTERS_MAX);
        return new Answer("unknown", "--version exited with code " + code + ": " + errors);
      }
      return new Answer(
          line.length() <= VERSION_CHARACTERS_MAX
              ? line
              : line.substring(0, VERSION_CHARACTERS_MAX),
          "");
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
    return new Problem(
        ErrorCode.BACKEND_ERROR, message, Map.of("blackbox_type", wanted.type()), cause);
  }
}
