package dev.blackbox.control;

import dev.blackbox.control.Rollout.CommandSubmission;
import dev.blackbox.control.Rollout.ExecuteRequest;
import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerFacts.CommandEnd;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnError;
import dev.blackbox.wire.Fingerprints;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Shell commands in the agent's workspace: accepted and recorded, then run one at a time in the
 * order in which they were accepted, each recorded before it begins and with its result. One
 * virtual thread per command owns all of that; other threads only wish for its end or wait for it.
 */
final class Commands {

  private static final System.Logger LOG = System.getLogger(Commands.class.getName());

  /** Linux takes 128 KiB for one argument of a program, its final zero included (execve(2)). */
  private static final int COMMAND_BYTES_MAX = (128 << 10) - 1;

  /**
   * How often a waiting thread looks by itself: an end that this class did not make, such as that
   * of a queued command by an abort, is not told to it.
   */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final Ledger ledger;
  private final ServerStatus status;
  private final Binder binder;
  private final WorkspaceLock workspace;
  private final Shell shell;
  private final ControlConfig config;
  private final Threads threads;
  private final Map<Long, RunningCommand> running = new ConcurrentHashMap<>();
  private final Map<Long, CompletableFuture<@Nullable Void>> waiters = new ConcurrentHashMap<>();

  Commands(
      Ledger ledger,
      ServerStatus status,
      Binder binder,
      WorkspaceLock workspace,
      Shell shell,
      ControlConfig config,
      Threads threads) {
    this.ledger = ledger;
    this.status = status;
    this.binder = binder;
    this.workspace = workspace;
    this.shell = shell;
    this.config = config;
    this.threads = threads;
  }

  /** A known command is found before anything else is asked, as a known turn is (P3). */
  CommandSubmission submit(ExecuteRequest request) {
    Optional<LiveBinding> live = binder.current();
    Optional<SessionSnapshot> session = Submissions.sessionFor(ledger, request.sessionId(), live);
    Optional<Problem> refusal = refusal(request, live);
    if (session.isEmpty()) {
      Optional<Problem> gone = Lookups.gone(ledger, request.sessionId(), Optional.empty());
      if (gone.isPresent()) {
        throw gone.get();
      }
      throw refusal.orElseGet(
          () ->
              Problem.notFound(
                  "Session does not exist.", Map.of("session_id", request.sessionId())));
    }
    double limit =
        request
            .timeoutSeconds()
            .or(() -> live.map(binding -> binding.effective().executeCmdTimeout()))
            .orElse(0.0);
    LedgerFacts.CommandAdmission admission =
        ledger.admitCommand(
            new LedgerFacts.CommandAdmit(
                session.get().key(),
                wellFormed(request.commandId()),
                fingerprint(request),
                request.command().strip(),
                limit,
                refusal,
                config.commandsWaitingMax() + 1));
    return switch (admission) {
      case LedgerFacts.CommandAdmission.Fresh(CommandSnapshot command) -> {
        launch(live.orElseThrow(), command);
        yield new CommandSubmission(command, false);
      }
      case LedgerFacts.CommandAdmission.Known(CommandSnapshot command) ->
          new CommandSubmission(command, true);
      case LedgerFacts.CommandAdmission.Refused(Problem problem) -> throw problem;
    };
  }

  /** Takes over a queued command, unless that was done already. */
  void launch(LiveBinding binding, CommandSnapshot command) {
    RunningCommand run = new RunningCommand(command);
    if (running.putIfAbsent(command.number(), run) != null) {
      return;
    }
    Thread _ = threads.start("command-" + command.number(), () -> run(binding, run));
  }

  /** Waits until a command is settled or the time is over, and returns it as it then is. */
  CommandSnapshot await(long number, Optional<Duration> within) throws InterruptedException {
    long end = System.nanoTime() + within.map(Duration::toNanos).orElse(0L);
    while (true) {
      CompletableFuture<@Nullable Void> signal =
          waiters.computeIfAbsent(number, _ -> new CompletableFuture<>());
      // Looked at after the wish to be woken, so that no end goes unnoticed.
      CommandSnapshot now = find(number);
      if (now.state().isSettled()) {
        waiters.remove(number, signal);
        return now;
      }
      long leftNanos = within.isPresent() ? end - System.nanoTime() : Long.MAX_VALUE;
      if (leftNanos <= 0) {
        return now;
      }
      try {
        signal.get(Math.min(leftNanos, LOOK_EVERY.toNanos()), TimeUnit.NANOSECONDS);
      } catch (TimeoutException _) {
        // look again
      } catch (ExecutionException impossible) {
        throw new IllegalStateException("signals complete normally", impossible);
      }
    }
  }

  /** Ends it at once if it waits; else wishes for its end, which {@link #await} tells. */
  CommandSnapshot cancel(CommandSnapshot command) {
    return stop(command, StopCause.CANCEL);
  }

  /** Ends all commands of a session, waiting ones too, and waits for that. */
  void stopAll(long sessionKey, StopCause cause, Duration within) throws InterruptedException {
    List<CommandSnapshot> open =
        running.values().stream()
            .map(RunningCommand::command)
            .filter(command -> command.sessionKey() == sessionKey)
            .toList();
    open.forEach(command -> stop(command, cause));
    long end = System.nanoTime() + within.toNanos();
    for (CommandSnapshot command : open) {
      await(command.number(), Optional.of(Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
    }
  }

  /** The same for all sessions, without waiting. */
  void hurry() {
    running.values().forEach(run -> run.requestStop(StopCause.SHUTDOWN));
  }

  /** Settles commands that were left queued, and whose binding could not be had again. */
  void settleWithoutAgent(long sessionKey, String reason) {
    for (CommandSnapshot command : ledger.reads().queuedCommands(sessionKey)) {
      end(
          command,
          CommandEnd.without(
              CommandState.FAILED,
              error(command, ErrorCode.BACKEND_ERROR, "The command did not run: " + reason)));
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

  private Optional<Problem> refusal(ExecuteRequest request, Optional<LiveBinding> live) {
    try {
      status.requireReady();
      LiveBinding binding = live.orElseThrow(() -> ServerStatus.notReady(status.now()));
      SessionId asked = SessionId.parse(request.sessionId());
      request.commandId().ifPresent(CommandId::parse);
      checkedCommand(request.command());
      Lookups.requireBound(binding, asked);
      return Optional.empty();
    } catch (Problem refusal) {
      return Optional.of(refusal);
    }
  }

  /** What is no id names no command; {@link #refusal} says so, in its turn. */
  private static Optional<CommandId> wellFormed(Optional<String> id) {
    try {
      return id.map(CommandId::parse);
    } catch (Problem _) {
      return Optional.empty();
    }
  }

  /** The default limit is not part of it: who leaves it out says the same after it was changed. */
  private static String fingerprint(ExecuteRequest request) {
    Map<String, @Nullable Object> content = new LinkedHashMap<>();
    content.put("cmd", request.command().strip());
    content.put("timeout", request.timeoutSeconds().orElse(null));
    return Fingerprints.of(content);
  }

  private CommandSnapshot find(long number) {
    return ledger
        .reads()
        .command(number)
        .orElseThrow(
            () -> Problem.notFound("Command does not exist.", Map.of("command_number", number)));
  }

  private CommandSnapshot stop(CommandSnapshot command, StopCause cause) {
    RunningCommand run = running.get(command.number());
    if (run != null) {
      run.requestStop(cause);
    }
    return end(command, CommandEnd.without(CommandState.CANCELLED, stopped(command, cause)));
  }

  private CommandSnapshot end(CommandSnapshot command, CommandEnd end) {
    CommandSnapshot stands = ledger.endCommand(command.number(), end);
    if (stands.state().isSettled()) {
      signal(command.number());
    }
    return stands;
  }

  private void signal(long number) {
    CompletableFuture<@Nullable Void> signal = waiters.remove(number);
    if (signal != null) {
      signal.complete(null);
    }
  }

  private void run(LiveBinding binding, RunningCommand run) {
    CommandSnapshot command = run.command();
    try {
      workspace.acquire();
      try {
        if (recorded(() -> ledger.beginCommand(command.number()))) {
          CommandEnd end = perform(binding, run);
          recorded(() -> ledger.endCommand(command.number(), end));
        }
      } finally {
        workspace.release();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (Problem ledgerClosed) {
      // The next boot finds the row as it is, and says so.
      LOG.log(
          System.Logger.Level.WARNING,
          "command " + command.number() + " is not recorded to its end: " + ledgerClosed.text());
    } finally {
      running.remove(command.number(), run);
      signal(command.number());
    }
  }

  private CommandEnd perform(LiveBinding binding, RunningCommand run) throws InterruptedException {
    CommandSnapshot command = run.command();
    try {
      Shell.Run done = shell.run(binding, command, run.stopRequested());
      return done.stoppedBy()
          .map(
              cause ->
                  new CommandEnd(
                      CommandState.CANCELLED,
                      done.returnCode(),
                      false,
                      done.resultJson(),
                      Optional.of(stopped(command, cause))))
          .orElseGet(() -> CommandEnd.ended(done.returnCode(), done.timedOut(), done.resultJson()));
    } catch (IOException failure) {
      return failed(
          command,
          ErrorCode.BACKEND_ERROR,
          "The shell could not be started: " + failure.getMessage());
    } catch (Problem unrecorded) {
      return failed(
          command, unrecorded.code(), "The shell was ended at once: " + unrecorded.text());
    } catch (RuntimeException bug) {
      LOG.log(System.Logger.Level.ERROR, "a command failed in our own code", bug);
      return failed(
          command,
          ErrorCode.INTERNAL_ERROR,
          "The command's end was not seen; the server's log has the reason.");
    }
  }

  private static CommandEnd failed(CommandSnapshot command, ErrorCode code, String message) {
    return CommandEnd.without(CommandState.FAILED, error(command, code, message));
  }

  /** Held until the ledger takes it: a full disk must not cost a result. */
  private <T> T recorded(Supplier<T> verb) throws InterruptedException {
    while (true) {
      try {
        return verb.get();
      } catch (Problem ledgerDown) {
        if (ledgerDown.code() != ErrorCode.SERVICE_UNAVAILABLE || ledger.isClosed()) {
          throw ledgerDown;
        }
        LOG.log(
            System.Logger.Level.WARNING, "a command waits for the ledger: " + ledgerDown.text());
        Thread.sleep(config.settleRetryEvery());
      }
    }
  }

  private static TurnError stopped(CommandSnapshot command, StopCause cause) {
    return switch (cause) {
      case CANCEL -> error(command, ErrorCode.CANCELLED, "Command was cancelled.");
      case ABORT -> error(command, ErrorCode.ABORTED, "Session was aborted.");
      case SHUTDOWN ->
          error(command, ErrorCode.SERVER_SHUTDOWN, "Server shut down before the command ended.");
      case TIMEOUT, STEPS ->
          throw new IllegalStateException("no command is stopped by this: " + cause);
    };
  }

  private static TurnError error(CommandSnapshot command, ErrorCode code, String message) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    details.put("session_id", command.sessionId().value());
    command.commandId().ifPresent(id -> details.put("command_id", id.value()));
    return new TurnError(code, message, details);
  }
}
