package dev.blackbox.control;

import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ManagedProcess.Captured;
import dev.blackbox.process.ProcessSpec;
import dev.blackbox.process.Processes;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Timestamps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs one command line with {@code /bin/sh}: in the agent's workspace, in a session of its own,
 * with an empty standard input and few variables. When the shell has ended, or is ended, so is all
 * that it started.
 */
final class Shell {

  /** Time between SIGTERM and SIGKILL. Source: reference server, section 8.6. */
  private static final Duration TERM_GRACE = Duration.ofSeconds(2);

  /** What a command inherits of the server's own environment; everything else stays here. */
  private static final Set<String> INHERITED =
      Set.of("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "USER", "LOGNAME", "SHELL");

  private final Processes processes;
  private final Map<String, String> environment;
  private final int outputBytesMax;
  private final InstantSource clock;

  /**
   * @param environment the server's own, of which commands get a few variables
   * @param outputBytesMax kept of each output stream
   */
  Shell(
      Processes processes,
      Map<String, String> environment,
      int outputBytesMax,
      InstantSource clock) {
    this.processes = processes;
    this.environment = Map.copyOf(environment);
    this.outputBytesMax = outputBytesMax;
    this.clock = clock;
  }

  /**
   * How it went.
   *
   * @param stoppedBy the wish that ended it, if it did not end before
   * @param resultJson the fields {@code cmd} to {@code finished_at} of the HTTP API, and how many
   *     bytes of a stream were left out if any were
   */
  record Run(
      OptionalInt returnCode, boolean timedOut, Optional<StopCause> stoppedBy, String resultJson) {}

  /**
   * Runs it and waits for its end, at most as long as its limit says, and not much longer than
   * until its end is wished for.
   *
   * @throws IOException if the shell cannot be started
   */
  Run run(LiveBinding binding, CommandSnapshot command, CompletableFuture<StopCause> stop)
      throws IOException, InterruptedException {
    Instant startedAt = clock.instant();
    long startedNanos = System.nanoTime();
    try (ManagedProcess process = processes.start(spec(binding, command))) {
      boolean timedOut = !endsWithin(process, stop, Durations.ofSeconds(command.timeoutSeconds()));
      Optional<StopCause> stoppedBy =
          process.exitCode().isPresent() || timedOut ? Optional.empty() : Optional.of(stop.join());
      if (timedOut || stoppedBy.isPresent()) {
        process.end(TERM_GRACE);
      } else {
        process.sweep();
      }
      Map<String, @Nullable Object> result = new LinkedHashMap<>();
      result.put("cmd", command.command());
      Captured stdout = process.stdout();
      Captured stderr = process.stderr();
      result.put("stdout", stdout.text());
      result.put("stderr", stderr.text());
      OptionalInt code = process.exitCode();
      result.put("returncode", code.isPresent() ? code.getAsInt() : null);
      result.put("timed_out", timedOut);
      result.put("duration_seconds", (System.nanoTime() - startedNanos) / 1e9);
      result.put("started_at", Timestamps.iso(startedAt));
      result.put("finished_at", Timestamps.iso(clock.instant()));
      putDropped(result, "stdout_dropped_bytes", stdout);
      putDropped(result, "stderr_dropped_bytes", stderr);
      return new Run(code, timedOut, stoppedBy, Json.write(result));
    }
  }

  private static void putDropped(
      Map<String, @Nullable Object> result, String name, Captured stream) {
    if (stream.droppedBytes() > 0) {
      result.put(name, stream.droppedBytes());
    }
  }

  private ProcessSpec spec(LiveBinding binding, CommandSnapshot command) throws IOException {
    Path runtime = binding.runtimeDirectory();
    Path directory = Files.isDirectory(binding.workspace()) ? binding.workspace() : runtime;
    Map<String, String> variables = new LinkedHashMap<>();
    environment.forEach(
        (name, value) -> {
          if (INHERITED.contains(name)) {
            variables.put(name, value);
          }
        });
    variables.put("HOME", runtime.resolve("home").toString());
    variables.put("TMPDIR", made(runtime.resolve("tmp")).toString());
    ProcessSpec.Output output = new ProcessSpec.Output.Captured(outputBytesMax);
    return new ProcessSpec(
        "command",
        List.of("/bin/sh", "-lc", command.command()),
        directory,
        variables,
        Optional.empty(),
        output,
        output);
  }

  /** The agent, or an earlier command, may have put anything there. */
  private static Path made(Path directory) throws IOException {
    try {
      return Files.createDirectories(directory);
    } catch (IOException failure) {
      throw new IOException("the directory " + directory + " cannot be made: " + failure, failure);
    }
  }

  /** False if the time is over; true if the shell ended or its end is wished for. */
  private static boolean endsWithin(
      ManagedProcess process, CompletableFuture<StopCause> stop, Duration within)
      throws InterruptedException {
    try {
      CompletableFuture.anyOf(process.onExit(), stop).get(within.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("exits and wishes complete normally", impossible);
    }
  }
}
