package dev.blackbox.agent.opencode;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the opencode program and asks it, once per file, for its version. */
final class OpencodeProgram {

  private static final String VARIABLE = "OPENCODE_BIN";

  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)\\S*");

  /**
   * The HTTP interface that this adapter speaks is known from here on, within this major version.
   */
  private static final int MAJOR = 1;

  private static final int MINOR_MIN = 18;

  private static final Duration VERSION_MAX = Duration.ofSeconds(30);
  private static final int OUTPUT_BYTES_MAX = 4_000;

  private final Map<String, String> environment;
  private final Processes processes;
  private final Map<Stamp, String> versions = new ConcurrentHashMap<>();

  /** A program that was found, and is of a version that can be driven. */
  record Found(Path path, String version) {}

  /** Changes when the file does. */
  private record Stamp(Path path, long size, long modifiedMillis) {}

  OpencodeProgram(Map<String, String> environment, Processes processes) {
    this.environment = environment;
    this.processes = processes;
  }

  /**
   * @throws Problem {@code backend_error} that says where it was looked for, or which versions work
   */
  Found find() {
    Path path = locate();
    String version = version(path);
    Matcher parts = VERSION.matcher(version);
    boolean good =
        parts.matches()
            && Integer.parseInt(parts.group(1)) == MAJOR
            && Integer.parseInt(parts.group(2)) >= MINOR_MIN;
    if (!good) {
      throw problem(
          "opencode "
              + version
              + " at "
              + path
              + " cannot be driven: "
              + OpencodeBackend.TESTED_VERSION
              + " is tested, and 1.18 or a later 1.x should do. Install opencode-ai@"
              + OpencodeBackend.TESTED_VERSION
              + " or let "
              + VARIABLE
              + " name another program.",
          null);
    }
    return new Found(path, version);
  }

  private Path locate() {
    String chosen = environment.getOrDefault(VARIABLE, "").strip();
    String name = chosen.isEmpty() ? "opencode" : chosen;
    Stream<Path> candidates =
        name.contains("/")
            ? Stream.of(Path.of(name))
            : Stream.of(environment.getOrDefault("PATH", "").split(":"))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, name));
    return candidates
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst()
        .map(Path::toAbsolutePath)
        .orElseThrow(
            () ->
                problem(
                    chosen.isEmpty()
                        ? "opencode was not found: "
                            + VARIABLE
                            + " is not set, and no program \"opencode\" is on the PATH."
                        : "opencode was not found: "
                            + VARIABLE
                            + " is \""
                            + chosen
                            + "\", which is no executable program.",
                    null));
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
      throw problem(
          "opencode at " + path + " did not tell its version: " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw problem("interrupted while asking opencode for its version", interrupted);
    }
  }

  /** Runs it in a home of its own, because it makes directories there even for this question. */
  private String ask(Path path)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    Path home = Files.createTempDirectory("bbs-opencode-version-");
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
      if (code != 0) {
        throw new IOException(
            "--version exited with code " + code + ": " + process.stderr().text().strip());
      }
      return process.stdout().text().strip();
    } finally {
      delete(home);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(
              file -> {
                try {
                  Files.deleteIfExists(file);
                } catch (IOException failed) {
                  throw new UncheckedIOException(failed);
                }
              });
    } catch (UncheckedIOException failed) {
      throw new IOException(failed);
    }
  }

  private static Problem problem(String message, @Nullable Throwable cause) {
    return new Problem(
        ErrorCode.BACKEND_ERROR, message, Map.of("blackbox_type", OpencodeBackend.TYPE), cause);
  }
}
