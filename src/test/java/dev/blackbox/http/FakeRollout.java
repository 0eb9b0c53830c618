package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.control.ServerSettings;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The far side of the door: keeps turns in memory and settles them when a test says so. It knows
 * one session, {@code sess-1}, and checks identifiers as the real one does.
 */
final class FakeRollout implements Rollout {

  static final String BINDING = "{\"runtime_id\":\"bbs-1\",\"blackbox_type\":\"opencode\"}";
  static final String CAPABILITIES = "{\"chat\":true}";
  static final String OUTPUTS =
      "[{\"role\":\"assistant\",\"content\":\"hé \\u0001 done\",\"tool_calls\":null}]";
  static final String TRACE =
      "[{\"turn_id\":\"t\",\"seq\":1,\"source\":\"opencode\",\"event_type\":\"x\",\"payload\":{}}]";
  static final Usage USAGE = new Usage(18, 11, 7, 0, 1, 0);

  private static final Instant NOON = Instant.parse("2026-11-30T12:00:00Z");

  /** Every question that got through the door. */
  final List<String> calls = new CopyOnWriteArrayList<>();

  final List<Object> requests = new CopyOnWriteArrayList<>();

  /** Of those, the ones that did something. */
  final List<String> changes = new CopyOnWriteArrayList<>();

  private static final String COMMAND_RESULT =
      "{\"cmd\":\"true\",\"stdout\":\"\",\"stderr\":\"\",\"returncode\":0,\"timed_out\":false,"
          + "\"duration_seconds\":0.1,\"started_at\":\"x\",\"finished_at\":\"y\"}";

  private final Map<String, CommandSnapshot> commands = new ConcurrentSkipListMap<>();
  private final Map<String, Turn> turns = new ConcurrentSkipListMap<>();

  volatile boolean bound = true;
  volatile boolean answersAtOnce = true;
  volatile List<Check> checks = List.of(new Check("ledger", true, "writes"));
  volatile Optional<SessionSnapshot.SystemPrompt> prompt = Optional.empty();

  /** Stands in for the turns above if set: how many committed turns the session has. */
  volatile int manyTurns;

  /** Thrown after the last turn was told, if set. */
  volatile Optional<RuntimeException> failsAfterTurns = Optional.empty();

  /** Open until somebody stops listening to {@link #forEachTurn}. */
  final CountDownLatch brokenOff = new CountDownLatch(1);

  /** Thrown by the next questions, if set. */
  volatile Optional<RuntimeException> failure = Optional.empty();

  private record Turn(TurnSnapshot queued, CompletableFuture<TurnSnapshot> end) {
    TurnSnapshot now() {
      return end.getNow(queued);
    }
  }

  /** The turn is inflight from now on. */
  void start(String turnId) {
    Turn queued = known(turnId);
    TurnSnapshot inflight =
        turn(turnId, TurnState.INFLIGHT, queued.queued().requestJson(), Optional.empty());
    turns.put(turnId, new Turn(inflight, queued.end()));
  }

  private Turn known(String turnId) {
    return Optional.ofNullable(turns.get(turnId))
        .orElseThrow(
            () ->
                Problem.notFound(
                    "Turn does not exist.", Map.of("session_id", "sess-1", "turn_id", turnId)));
  }

  private void called(String name, Object request) {
    calls.add(name);
    requests.add(request);
    if (failure.isPresent()) {
      throw failure.get();
    }
  }

  @Override
  public StatusView status() {
    called("status", "");
    return new StatusView(
        bound ? "ready" : "idle",
        bound ? Optional.of(view()) : Optional.empty(),
        new SessionCountsView(1, 2, 3),
        ServerSettings.DEFAULTS,
        List.of("opencode"),
        List.of("opencode"),
        new RunView(
            "",
            Duration.ofMillis(1500),
            3,
            new HealthView("healthy", "", Optional.of(NOON)),
            Optional.empty(),
            new LedgerView(4096, 4000, 0, 0),
            Map.of("turns_interrupted", 1)));
  }

  private static BindingView view() {
    return new BindingView(BINDING, CAPABILITIES, ServerSettings.DEFAULTS);
  }

  @Override
  public List<Check> checks() {
    return checks;
  }

  @Override
  public BindingView register(RegisterRequest request) {
    called("register", request);
    request.sessionId().ifPresent(SessionId::parse);
    request.instanceId().ifPresent(InstanceId::parse);
    changes.add("register");
    return view();
  }

  @Override
  public PauseView pause(String reason, Optional<Double> timeoutSeconds) {
    called("pause", new Requests.Pause(reason, timeoutSeconds));
    changes.add("pause");
    return new PauseView(
        "paused", reason, true, null, Map.of("suspended_generations", 4, "mode", "preempt"));
  }

  @Override
  public ResumeView resume(String reason, Optional<String> version) {
    called("resume", new Requests.Resume(reason, version));
    changes.add("resume");
    return new ResumeView("resumed", reason, version.orElse(null), Map.of("rollout_epoch", 1));
  }

  @Override
  public PauseState pauseState() {
    called("pause_state", "");
    return new PauseState(false, Optional.empty(), Optional.empty(), "{}");
  }

  @Override
  public synchronized Submission submit(SubmitRequest request) {
    called("submit", request);
    knownSession(request.sessionId());
    TurnId turnId = TurnId.parse(request.turnId().orElse("turn-generated"));
    String requestJson = Json.write(request.messages());
    if (turns.containsKey(turnId.value())) {
      Turn known = known(turnId.value());
      if (!known.queued().requestJson().equals(requestJson)) {
        throw Problem.conflict(
            "This turn_id belongs to another request.", Map.of("turn_id", turnId.value()));
      }
      return new Submission(known.now(), true);
    }
    TurnSnapshot queued = turn(turnId.value(), TurnState.QUEUED, requestJson, Optional.empty());
    turns.put(turnId.value(), new Turn(queued, new CompletableFuture<>()));
    changes.add("submit");
    if (answersAtOnce) {
      settle(turnId.value(), committed(), SessionState.ACTIVE);
    }
    return new Submission(queued, false);
  }

  static TurnOutcome committed() {
    return new TurnOutcome.Committed(new Work(OUTPUTS, TRACE, USAGE, "ses_1"));
  }

  void settle(String turnId, TurnOutcome outcome, SessionState sessionState) {
    Turn known = known(turnId);
    known
        .end()
        .complete(
            turn(
                turnId,
                outcome.state(),
                known.queued().requestJson(),
                Optional.of(new TurnSnapshot.Settlement(outcome, sessionState))));
  }

  private static TurnSnapshot turn(
      String turnId,
      TurnState state,
      String requestJson,
      Optional<TurnSnapshot.Settlement> settlement) {
    return new TurnSnapshot(
        new TurnKey(1, TurnId.parse(turnId)),
        SessionId.parse("sess-1"),
        InstanceId.parse("inst-1"),
        "opencode",
        state,
        Fingerprints.sha256Hex(new byte[0]),
        requestJson,
        false,
        settlement,
        NOON,
        NOON.plusMillis(1500),
        1,
        OptionalLong.empty());
  }

  @Override
  public TurnView await(TurnKey key, Optional<Duration> within) {
    called("await", within);
    Turn turn = known(key.turnId().value());
    try {
      if (within.isEmpty()) {
        turn.end().get();
      } else {
        turn.end().get(within.get().toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (TimeoutException over) {
      // The view says that it is still open.
    } catch (InterruptedException | ExecutionException stopped) {
      throw new IllegalStateException("waiting was interrupted", stopped);
    }
    return new TurnView(turn.now(), "active");
  }

  @Override
  public TurnView turn(String sessionId, String turnId) {
    called("turn", sessionId + "/" + turnId);
    knownSession(sessionId);
    TurnId.parse(turnId);
    return new TurnView(known(turnId).now(), "active");
  }

  @Override
  public CancelView cancel(String sessionId, String turnId) {
    TurnView view = turn(sessionId, turnId);
    called("cancel", "");
    changes.add("cancel");
    return new CancelView(view, "cancel_requested");
  }

  @Override
  public synchronized CommandSubmission execute(ExecuteRequest request) {
    called("execute", request);
    knownSession(request.sessionId());
    CommandId id = CommandId.parse(request.commandId().orElse("command-generated"));
    CommandSnapshot known = commands.get(id.value());
    if (known != null && request.commandId().isPresent()) {
      return new CommandSubmission(known, true);
    }
    changes.add("execute");
    CommandSnapshot queued =
        command(commands.size() + 1, id, request.command(), CommandState.QUEUED, Optional.empty());
    commands.put(id.value(), queued);
    if (answersAtOnce) {
      endCommand(id.value(), CommandState.ENDED, Optional.empty());
    }
    return new CommandSubmission(queued, false);
  }

  /** An end that is no error has a result. */
  void endCommand(String commandId, CommandState state, Optional<TurnError> error) {
    CommandSnapshot known = Optional.ofNullable(commands.get(commandId)).orElseThrow();
    commands.put(
        commandId,
        command(known.number(), known.commandId().orElseThrow(), known.command(), state, error));
  }

  private static CommandSnapshot command(
      long number, CommandId id, String cmd, CommandState state, Optional<TurnError> error) {
    return new CommandSnapshot(
        number,
        1,
        SessionId.parse("sess-1"),
        InstanceId.parse("inst-1"),
        Optional.of(id),
        "fingerprint",
        cmd,
        5,
        state,
        state == CommandState.ENDED ? Optional.of(COMMAND_RESULT) : Optional.empty(),
        error,
        NOON,
        NOON.plusMillis(state.isSettled() ? 1 : 0));
  }

  @Override
  public CommandView awaitCommand(long number, Optional<Duration> within) {
    called("awaitCommand", within);
    return commands.values().stream()
        .filter(command -> command.number() == number)
        .findFirst()
        .map(command -> new CommandView(command, "active"))
        .orElseThrow();
  }

  @Override
  public CommandView command(String sessionId, String commandId) {
    called("command", sessionId + "/" + commandId);
    knownSession(sessionId);
    CommandId.parse(commandId);
    return Optional.ofNullable(commands.get(commandId))
        .map(command -> new CommandView(command, "active"))
        .orElseThrow(
            () ->
                Problem.notFound(
                    "Command does not exist.",
                    Map.of("session_id", sessionId, "command_id", commandId)));
  }

  @Override
  public CommandView cancelCommand(String sessionId, String commandId) {
    CommandView view = command(sessionId, commandId);
    called("cancelCommand", "");
    changes.add("cancelCommand");
    return view;
  }

  @Override
  public List<CommandSnapshot> commands(String sessionId, long afterNumber, int countMax) {
    called("commands", sessionId);
    knownSession(sessionId);
    return commands.values().stream()
        .filter(command -> command.number() > afterNumber)
        .limit(countMax)
        .toList();
  }

  private static void knownSession(String sessionId) {
    SessionId.parse(sessionId);
    if (!sessionId.equals("sess-1")) {
      throw Problem.notFound("Session does not exist.", Map.of("session_id", sessionId));
    }
  }

  private SessionSnapshot session(SessionState state) {
    return new SessionSnapshot(
        1,
        SessionId.parse("sess-1"),
        InstanceId.parse("inst-1"),
        "bbs-1",
        "opencode",
        state,
        "",
        Optional.of("ses_1"),
        prompt,
        Optional.empty(),
        true,
        turns.size(),
        NOON,
        NOON);
  }

  @Override
  public SessionView session(String sessionId) {
    called("session", sessionId);
    knownSession(sessionId);
    return new SessionView(session(SessionState.ACTIVE), 2 * turns.size());
  }

  @Override
  public void forEachTurn(long sessionKey, Consumer<TurnSnapshot> reader) {
    called("forEachTurn", sessionKey);
    try {
      tellTurns(reader);
      if (failsAfterTurns.isPresent()) {
        throw failsAfterTurns.get();
      }
    } catch (RuntimeException stopped) {
      brokenOff.countDown();
      throw stopped;
    }
  }

  private void tellTurns(Consumer<TurnSnapshot> reader) {
    for (int number = 0; number < manyTurns; number++) {
      reader.accept(
          turn(
              "many-" + number,
              TurnState.COMMITTED,
              "[{\"role\":\"user\",\"content\":\"" + "x".repeat(4000) + "\"}]",
              Optional.of(new TurnSnapshot.Settlement(committed(), SessionState.ACTIVE))));
    }
    turns.values().forEach(turn -> reader.accept(turn.now()));
  }

  @Override
  public AbortView abort(String sessionId) {
    called("abort", sessionId);
    knownSession(sessionId);
    changes.add("abort");
    return new AbortView(session(SessionState.ABORTED), "best_effort");
  }
}
