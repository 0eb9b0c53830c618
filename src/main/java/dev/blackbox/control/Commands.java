package dev.blackbox.control;

import dev.blackbox.control.Rollout.CommandView;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import dev.blackbox.process.Processes;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Timestamps;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Shell commands in the agent's workspace, one at a time, each recorded with its result. */
final class Commands {

  /** Linux takes 128 KiB for one argument of a program, its final zero included (execve(2)). */
  private static final int COMMAND_BYTES_MAX = (128 << 10) - 1;

  /** Time between SIGTERM and SIGKILL. Source: reference server, section 8.6. */
  private static final Duration TERM_GRACE = Duration.ofSeconds(2);

  /** How often a waiting command looks whether its session was aborted. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  /** What a command inherits of the server's own environment; everything else stays here. */
  private static final Set<String> INHERITED =
      Set.of("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "USER", "LOGNAME", "SHELL");

  /** Failures after which a controller may still look at what the agent left ("harvest"). */
  private static final Set<ErrorCode> HARVESTABLE =
      Set.of(ErrorCode.CONTEXT_OVERFLOW, ErrorCode.MAX_STEPS_EXCEEDED);

  private final Ledger ledger;
  private final Processes processes;
  private final WorkspaceLock workspace;
  private final ControlConfig config;
  private final Map<String, String> environment;
  private final InstantSource clock;
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicReference<@Nullable ManagedProcess> current = new AtomicReference<>();

  Commands(
      Ledger ledger,
      Processes processes,
      WorkspaceLock workspace,
      ControlConfig config,
      Map<String, String> environment,
      InstantSource clock) {
    this.ledger = ledger;
    this.processes = processes;
    this.workspace = workspace;
    this.config = config;
    this.environment = Map.copyOf(environment);
    this.clock = clock;
  }

  CommandView execute(LiveBinding binding, String command, Optional<Double> timeoutSeconds)
      throws InterruptedException {
    double limit = timeoutSeconds.orElse(binding.effective().executeCmdTimeout());
    requireCommandsAllowed(binding);
    if (waiting.incrementAndGet() > config.commandsWaitingMax()) {
      waiting.decrementAndGet();
      throw Problem.unavailable(
          "Already "
              + config.commandsWaitingMax()
              + " commands wait for the workspace. Try again later.",
          Map.of());
    }
    try {
      while (!workspace.tryAcquire(LOOK_EVERY)) {
        requireCommandsAllowed(binding);
      }
    } finally {
      waiting.decrementAndGet();
    }
    try {
      requireCommandsAllowed(binding);
      return run(binding, command, limit);
    } finally {
      workspace.release();
    }
  }

  /** Ends the command that runs, if any. */
  void stop() {
    ManagedProcess running = current.get();
    if (running != null) {
      running.end(TERM_GRACE);
    }
  }

  static String checkedCommand(String raw) {
    if (raw.indexOf('\n') >= 0 || raw.indexOf('\r') >= 0 || raw.indexOf('\0') >= 0) {
      throw Problem.badRequest(
          "cmd must be one line: it must hold no line break and no NUL.", Map.of());
    }
    String command = raw.strip();
    if (command.isEmpty()) {
      throw Problem.badRequest("cmd must not be empty.", Map.of());
    }
    int bytes = command.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > COMMAND_BYTES_MAX) {
      throw Problem.badRequest(
          "cmd must be at most %d bytes of UTF-8; got %d. Put a longer one into a file."
              .formatted(COMMAND_BYTES_MAX, bytes),
          Map.of("cmd_bytes_max", COMMAND_BYTES_MAX));
    }
    return command;
  }

  private void requireCommandsAllowed(LiveBinding binding) {
    SessionSnapshot session =
        ledger
            .reads()
            .session(binding.sessionKey())
            .orElseThrow(
                () ->
                    Problem.notFound(
                        "Session does not exist.",
                        Map.of("session_id", binding.sessionId().value())));
    Map<String, Object> details =
        Map.of("session_id", session.id().value(), "state", session.state().wireName());
    if (session.state() == SessionState.ABORTED) {
      throw Problem.conflict("Session is aborted and cannot execute commands.", details);
    }
    if (session.state() == SessionState.DESYNCED && !mayHarvest(binding)) {
      throw Problem.conflict("Session is desynced and cannot execute commands.", details);
    }
    ledger
        .reads()
        .activeTurn(binding.sessionKey())
        .ifPresent(
            turn -> {
              throw Problem.conflict(
                  "Session has an active turn in progress and cannot execute commands.",
                  Map.of(
                      "session_id",
                      session.id().value(),
                      "active_turn_id",
                      turn.key().turnId().value()));
            });
  }

  private boolean mayHarvest(LiveBinding binding) {
    return ledger
        .reads()
        .latestTurn(binding.sessionKey())
        .flatMap(TurnSnapshot::settlement)
        .map(TurnSnapshot.Settlement::outcome)
        .filter(TurnOutcome.Unknown.class::isInstance)
        .map(TurnOutcome.Unknown.class::cast)
        .map(unknown -> HARVESTABLE.contains(unknown.error().code()))
        .orElse(false);
  }

  private CommandView run(LiveBinding binding, String command, double limitSeconds)
      throws InterruptedException {
    long number =
        ledger.commandStarted(
            new LedgerFacts.CommandStart(
                binding.sessionKey(), Optional.empty(), command, limitSeconds));
    Instant startedAt = clock.instant();
    long startedNanos = System.nanoTime();
    try (ManagedProcess process = start(binding, command, number)) {
      current.set(process);
      boolean timedOut = !exitsWithin(process, Durations.ofSeconds(limitSeconds));
      if (timedOut) {
        process.end(TERM_GRACE);
      } else {
        process.sweep();
      }
      String result =
          resultJson(
              command, process, timedOut, startedAt, (System.nanoTime() - startedNanos) / 1e9);
      ledger.commandEnded(number, new LedgerFacts.CommandEnd(process.exitCode(), timedOut, result));
      return new CommandView(result, binding.sessionId().value(), binding.instanceId().value());
    } finally {
      current.set(null);
    }
  }

  private ManagedProcess start(LiveBinding binding, String command, long number) {
    Path directory =
        Files.isDirectory(binding.workspace()) ? binding.workspace() : binding.runtimeDirectory();
    Map<String, String> variables = new LinkedHashMap<>();
    environment.forEach(
        (name, value) -> {
          if (INHERITED.contains(name)) {
            variables.put(name, value);
          }
        });
    variables.put("HOME", binding.runtimeDirectory().resolve("home").toString());
    variables.put("TMPDIR", binding.runtimeDirectory().resolve("tmp").toString());
    ProcessSpec.Output output = new ProcessSpec.Output.Captured(config.commandOutputBytesMax());
    try {
      return processes.start(
          new ProcessSpec(
              "command",
              List.of("/bin/sh", "-lc", command),
              directory,
              variables,
              Optional.empty(),
              output,
              output));
    } catch (IOException failure) {
      ledger.commandEnded(number, new LedgerFacts.CommandEnd(OptionalInt.empty(), false, "{}"));
      throw new Problem(
          ErrorCode.BACKEND_ERROR,
          "The shell could not be started: " + failure.getMessage(),
          Map.of(),
          failure);
    }
  }

  private static boolean exitsWithin(ManagedProcess process, Duration within)
      throws InterruptedException {
    try {
      process.onExit().get(within.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException failure) {
      throw new IllegalStateException("waiting for a command failed", failure);
    }
  }

  private String resultJson(
      String command, ManagedProcess process, boolean timedOut, Instant startedAt, double seconds) {
    Map<String, @Nullable Object> result = new LinkedHashMap<>();
    result.put("cmd", command);
    result.put("stdout", process.stdout().text());
    result.put("stderr", process.stderr().text());
    result.put("returncode", process.exitCode().isPresent() ? process.exitCode().getAsInt() : null);
    result.put("timed_out", timedOut);
    result.put("duration_seconds", seconds);
    result.put("started_at", Timestamps.iso(startedAt));
    result.put("finished_at", Timestamps.iso(clock.instant()));
    return Json.write(result);
  }
}
