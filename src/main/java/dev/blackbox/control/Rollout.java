package dev.blackbox.control;

import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Message;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything that the control door can ask for. Methods may be called by any thread, and fail with
 * {@link dev.blackbox.kernel.Problem}. Identifiers come as the caller wrote them, because the order
 * of checks is part of the contract (reference server, section 9) and is kept here.
 */
public interface Rollout {

  StatusView status();

  /** Liveness of the parts, for {@code /readyz}. Never blocks on an agent. */
  List<Check> checks();

  /** Binds, or returns the binding that stands if the parameters are the same. */
  BindingView register(RegisterRequest request);

  PauseView pause(String reason, Optional<Double> timeoutSeconds);

  ResumeView resume(String reason, Optional<String> version);

  PauseState pauseState();

  /**
   * Admits a turn, or finds the known one. Returns at once, also while paused; {@link #await}
   * waits.
   */
  Submission submit(SubmitRequest request);

  /**
   * Waits until the turn is settled, or the time is over, and returns it as it then is.
   *
   * @param within empty: as long as it takes
   */
  TurnView await(TurnKey turn, Optional<Duration> within);

  /** A turn by the caller's names for it. */
  TurnView turn(String sessionId, String turnId);

  /** Asks for the end of a turn, and waits a bounded time for it. */
  CancelView cancel(String sessionId, String turnId);

  /**
   * Admits a shell command for the agent's workspace, or finds the known one. Returns at once;
   * {@link #awaitCommand} waits.
   */
  CommandSubmission execute(ExecuteRequest request);

  /**
   * Waits until the command is settled, or the time is over, and returns it as it then is.
   *
   * @param within empty: as long as it takes
   */
  CommandView awaitCommand(long commandNumber, Optional<Duration> within);

  /** A command by the caller's names for it. */
  CommandView command(String sessionId, String commandId);

  /** Ends a command that waits; asks for the end of one that runs, and waits a bounded time. */
  CommandView cancelCommand(String sessionId, String commandId);

  /**
   * Commands of a session, oldest first, without their results.
   *
   * @param afterNumber the last one that is passed over; 0: none
   */
  List<CommandSnapshot> commands(String sessionId, long afterNumber, int countMax);

  /** A session with as much of its history as is asked for. */
  SessionView session(String sessionId);

  /**
   * The turns of a session, oldest first, for histories and traces; streamed, so that memory stays
   * flat.
   */
  void forEachTurn(long sessionKey, Consumer<TurnSnapshot> reader);

  AbortView abort(String sessionId);

  /**
   * The server's state.
   *
   * @param state idle, initializing, ready, error or shutting_down
   */
  record StatusView(
      String state,
      Optional<BindingView> binding,
      SessionCountsView sessions,
      ServerSettings effective,
      List<String> implementedBackends,
      List<String> knownBackends,
      RunView run) {}

  /**
   * This run of the server; nothing of it is in the reference server's answer.
   *
   * @param stateReason why the state is {@code error}; empty otherwise
   * @param uptime since the control room was opened
   * @param boot number of this run, from 1
   * @param activeTurn the bound session's queued or running turn
   * @param ledger what it takes on disk
   * @param recovered what this run found of the one before, by what was counted
   */
  record RunView(
      String stateReason,
      Duration uptime,
      long boot,
      HealthView backendHealth,
      Optional<TurnSnapshot> activeTurn,
      LedgerView ledger,
      Map<String, Number> recovered) {}

  /**
   * @param bytes of journal and database
   * @param bytesInUse without what is free within the database's file
   * @param bytesMax the budget of what is in use; 0: there is none
   * @param sessionsTrimmed since the ledger was begun
   */
  record LedgerView(long bytes, long bytesInUse, long bytesMax, long sessionsTrimmed) {}

  /**
   * @param status healthy, unhealthy, or unknown while no agent is ready
   * @param reason why not healthy; empty otherwise
   * @param lastSeenHealthy the last look that succeeded
   */
  record HealthView(String status, String reason, Optional<Instant> lastSeenHealthy) {}

  record SessionCountsView(int active, int desynced, int aborted) {
    public int total() {
      return active + desynced + aborted;
    }
  }

  /** One line of {@code /readyz}. */
  record Check(String name, boolean ok, String reason) {}

  /**
   * A registration as it came, shapes and types checked.
   *
   * @param serverConfig the known, non-null keys of {@code server_config}
   */
  record RegisterRequest(
      String blackboxType,
      String router,
      String routerApiPath,
      Optional<String> sessionId,
      Optional<String> instanceId,
      Optional<String> sandboxId,
      Optional<String> systemPromptFile,
      Map<String, @Nullable Object> backendOptions,
      Map<String, Object> serverConfig) {}

  /**
   * A binding.
   *
   * @param bindingJson the {@code binding} object exactly as it goes out
   * @param capabilitiesJson the {@code capabilities} object
   */
  record BindingView(String bindingJson, String capabilitiesJson, ServerSettings effective) {}

  record PauseView(
      String status,
      String reason,
      boolean quiesced,
      @Nullable Object version,
      Map<String, @Nullable Object> details) {}

  record ResumeView(
      String status,
      String reason,
      @Nullable Object version,
      Map<String, @Nullable Object> details) {}

  /**
   * @param adapterJson the {@code adapter} object of the answer; {@code {}} without a binding
   */
  record PauseState(
      boolean paused, Optional<String> reason, Optional<String> version, String adapterJson) {}

  record SubmitRequest(
      String sessionId,
      Optional<String> turnId,
      boolean async,
      List<Message> messages,
      Map<String, @Nullable Object> metadata) {}

  /**
   * @param replay true if the turn was known before
   */
  record Submission(TurnSnapshot turn, boolean replay) {}

  /**
   * @param sessionState the session's state now, which may be later than the turn's settlement
   */
  record TurnView(TurnSnapshot turn, String sessionState) {}

  /**
   * @param status {@code cancel_requested}, or the turn's settled state
   */
  record CancelView(TurnView turn, String status) {}

  /**
   * @param commandId the caller's name for it; empty: one is made
   */
  record ExecuteRequest(
      String sessionId,
      Optional<String> commandId,
      String command,
      Optional<Double> timeoutSeconds) {}

  /**
   * @param replay true if the command was known before
   */
  record CommandSubmission(CommandSnapshot command, boolean replay) {}

  /**
   * @param sessionState the session's state now
   */
  record CommandView(CommandSnapshot command, String sessionState) {}

  /**
   * @param messageCount messages of the history, system prompt included
   */
  record SessionView(SessionSnapshot session, int messageCount) {}

  /**
   * @param mode {@code best_effort} or {@code noop}
   */
  record AbortView(SessionSnapshot session, String mode) {}
}
