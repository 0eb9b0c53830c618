package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Resource;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The control room's implementation: who may do what when, and the order of checks. */
public final class RolloutControl implements Rollout, Resource {

  private static final System.Logger LOG = System.getLogger(RolloutControl.class.getName());

  /** How long a cancel of a queued turn waits for its settlement before it answers. */
  private static final Duration CANCEL_LOOK = Duration.ofSeconds(2);

  private final Ledger ledger;
  private final ModelProxy proxy;
  private final ControlConfig config;
  private final List<String> implementedBackends;
  private final List<String> knownBackends;
  private final ServerStatus status = new ServerStatus();
  private final PauseClock pauseClock = new PauseClock();
  private final PauseControl pauses;
  private final Binder binder;
  private final TurnEngine engine;
  private final Commands commands;
  private final Submissions submissions;
  private final HealthMonitor monitor;
  private final Recovery.Report recovered;
  private final Thread resumption;

  /**
   * What the control room is made of.
   *
   * @param environment the server's own environment variables, of which commands get a few
   * @param backends finds a backend by its type
   * @param implementedBackends types that can be registered
   * @param knownBackends types that mean something
   */
  public record Parts(
      Ledger ledger,
      ModelProxy proxy,
      Processes processes,
      Function<String, Optional<Backend>> backends,
      List<String> implementedBackends,
      List<String> knownBackends,
      ControlConfig config,
      Map<String, String> environment,
      String serverVersion,
      InstantSource clock) {}

  /**
   * Recovers from the boot before, and begins to bind again what was bound then; until that is done
   * the state is {@code initializing}, and stored answers are served already.
   */
  public static RolloutControl open(Parts parts) {
    return new RolloutControl(parts);
  }

  private RolloutControl(Parts parts) {
    ledger = parts.ledger();
    proxy = parts.proxy();
    config = parts.config();
    implementedBackends = List.copyOf(parts.implementedBackends());
    knownBackends = List.copyOf(parts.knownBackends());
    recovered = Recovery.run(ledger);
    pauses = new PauseControl(ledger, proxy, pauseClock, config.controlCallWithin());
    WorkspaceLock workspace = new WorkspaceLock();
    binder =
        new Binder(
            ledger,
            proxy,
            parts.backends(),
            parts.processes(),
            pauses,
            status,
            config,
            parts.serverVersion(),
            parts.clock());
    engine = new TurnEngine(ledger, proxy, pauseClock, workspace, config, new Watch());
    commands =
        new Commands(
            ledger, parts.processes(), workspace, config, parts.environment(), parts.clock());
    submissions = new Submissions(ledger, status, binder, engine, this::agentGone);
    monitor =
        new HealthMonitor(
            this::watched, config.settings().runtimeHealthCheckInterval(), this::agentGone);
    Optional<LedgerFacts.OpenBinding> left = ledger.reads().openBinding();
    left.map(LedgerFacts.OpenBinding::pause).ifPresent(pauses::restore);
    if (left.isPresent()) {
      status.become(ServerState.INITIALIZING, "");
    }
    resumption =
        Thread.ofVirtual().name("resume-binding").start(() -> left.ifPresent(this::resumeBinding));
  }

  /** One line for an operator: what was found and done at boot. */
  public String recoverySummary() {
    LedgerFacts.Recovered settled = recovered.settled();
    Map<String, Number> counts = new LinkedHashMap<>();
    counts.put("turns interrupted", settled.turnsInterrupted());
    counts.put("turns queued", settled.turnsQueued());
    counts.put("model calls interrupted", settled.callsInterrupted());
    counts.put("commands interrupted", settled.commandsInterrupted());
    counts.put("processes ended", recovered.processesEnded());
    counts.put("facts applied from the journal", settled.factsApplied());
    String found =
        counts.entrySet().stream()
            .filter(count -> count.getValue().longValue() > 0)
            .map(count -> count.getKey() + " " + count.getValue())
            .collect(Collectors.joining(", "));
    String recovery = found.isEmpty() ? "nothing to recover" : "recovered: " + found;
    return ledger.putRight().map(what -> what + "; " + recovery).orElse(recovery);
  }

  @Override
  public StatusView status() {
    LedgerFacts.SessionCounts counts = ledger.reads().sessionCounts();
    Optional<LiveBinding> live = binder.current();
    return new StatusView(
        status.state().wireName(),
        live.map(LiveBinding::view),
        new SessionCountsView(counts.active(), counts.desynced(), counts.aborted()),
        live.map(LiveBinding::effective).orElse(config.settings()),
        implementedBackends,
        knownBackends);
  }

  @Override
  public List<Check> checks() {
    ServerStatus.Now now = status.now();
    List<Check> checks = new ArrayList<>();
    boolean open = !ledger.isClosed();
    checks.add(
        new Check("ledger", open, open ? ledger.putRight().orElse("") : "the ledger is closed"));
    boolean usable = now.state() == ServerState.READY || now.state() == ServerState.IDLE;
    checks.add(
        new Check("server", usable, usable ? "" : now.state().wireName() + ": " + now.reason()));
    return checks;
  }

  @Override
  public BindingView register(RegisterRequest request) {
    return Interrupts.asProblem(() -> binder.register(request));
  }

  @Override
  public PauseView pause(String reason, Optional<Double> timeoutSeconds) {
    return Interrupts.asProblem(() -> pauses.pause(requireReady(), reason, timeoutSeconds));
  }

  @Override
  public ResumeView resume(String reason, Optional<String> version) {
    return Interrupts.asProblem(() -> pauses.resume(requireReady(), reason, version));
  }

  @Override
  public PauseState pauseState() {
    LedgerFacts.Pause pause = pauses.standing();
    Optional<String> reason = pause.paused() ? Optional.of(pause.reason()) : Optional.empty();
    Map<String, @Nullable Object> adapter = new LinkedHashMap<>();
    if (binder.current().isPresent()) {
      adapter.put("paused", pause.paused());
      adapter.put("pause_reason", reason.orElse(null));
      adapter.put("version", pause.version().orElse(null));
      adapter.put("http_inflight_requests", proxy.callsInFlight());
      adapter.put("total_paused_seconds", pauseClock.pausedTotal().toNanos() / 1e9);
    }
    return new PauseState(pause.paused(), reason, pause.version(), Json.write(adapter));
  }

  @Override
  public Submission submit(SubmitRequest request) {
    return Interrupts.asProblem(() -> submissions.submit(request));
  }

  @Override
  public TurnView await(TurnKey turn, Optional<Duration> within) {
    return view(Interrupts.asProblem(() -> engine.await(turn, within)));
  }

  @Override
  public TurnView turn(String sessionId, String turnId) {
    return view(find(sessionId, turnId));
  }

  @Override
  public CancelView cancel(String sessionId, String turnId) {
    TurnSnapshot found = find(sessionId, turnId);
    if (found.state().isSettled()) {
      return new CancelView(view(found), found.state().wireName());
    }
    TurnSnapshot wished = ledger.requestCancel(found.key());
    engine.requestStop(found.key(), StopCause.CANCEL);
    if (wished.state() == TurnState.QUEUED) {
      wished = Interrupts.asProblem(() -> engine.await(found.key(), Optional.of(CANCEL_LOOK)));
    }
    String said = wished.state().isSettled() ? wished.state().wireName() : "cancel_requested";
    return new CancelView(view(wished), said);
  }

  @Override
  public CommandView execute(ExecuteRequest request) {
    LiveBinding binding = requireReady();
    SessionId asked = SessionId.parse(request.sessionId());
    String command = Commands.checkedCommand(request.command());
    requireBound(binding, asked);
    return Interrupts.asProblem(() -> commands.execute(binding, command, request.timeoutSeconds()));
  }

  @Override
  public SessionView session(String sessionId) {
    SessionSnapshot session = findSession(SessionId.parse(sessionId));
    int[] messages = {session.systemPrompt().isPresent() ? 1 : 0};
    ledger.reads().forEachTurn(session.key(), turn -> messages[0] += MessageCounts.of(turn));
    return new SessionView(session, messages[0]);
  }

  @Override
  public void forEachTurn(long sessionKey, Consumer<TurnSnapshot> reader) {
    ledger.reads().forEachTurn(sessionKey, reader);
  }

  @Override
  public AbortView abort(String sessionId) {
    SessionSnapshot session = findSession(SessionId.parse(sessionId));
    Optional<TurnSnapshot> active = ledger.reads().activeTurn(session.key());
    commands.stop();
    if (active.isPresent() && engine.requestStop(active.get().key(), StopCause.ABORT)) {
      Duration within = config.stopWithin().multipliedBy(2);
      Interrupts.asProblem(() -> engine.await(active.get().key(), Optional.of(within)));
    }
    boolean first = ledger.abort(session.key(), "aborted by its controller");
    active.ifPresent(turn -> engine.signal(turn.key()));
    return new AbortView(findSession(session.id()), first ? "best_effort" : "noop");
  }

  /** Ends everything that a {@link #close} would wait for, at once. Any thread. */
  public void hurry() {
    commands.stop();
    binder.closeAgent();
  }

  /**
   * Ends turns, commands and the agent; the binding stays in the ledger, so that the next boot goes
   * on with it.
   */
  @Override
  public void close() {
    if (!status.become(ServerState.SHUTTING_DOWN, "")) {
      return;
    }
    monitor.close();
    commands.stop();
    try {
      engine.shutDown(Durations.ofSeconds(config.settings().shutdownTimeout()));
      resumption.join(config.stopWithin());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    binder.closeAgent();
  }

  /** Binds again what the boot before had bound, then lets its queued turn run. */
  private void resumeBinding(LedgerFacts.OpenBinding left) {
    long sessionKey = left.sessionKey();
    try {
      LiveBinding live = binder.resume(left);
      ledger.nextQueued(sessionKey).ifPresent(turn -> engine.launch(live, turn));
      LOG.log(
          System.Logger.Level.INFO,
          "bound again: " + live.backendType() + " in " + live.runtimeId());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException failure) {
      String reason =
          failure instanceof Problem problem ? problem.text() : "a failure in our own code";
      LOG.log(System.Logger.Level.ERROR, "could not bind again: " + reason, failure);
      ledger.nextQueued(sessionKey).ifPresent(turn -> engine.settleWithoutAgent(turn, reason));
    }
  }

  private Optional<LiveBinding> watched() {
    return status.state() == ServerState.READY ? binder.current() : Optional.empty();
  }

  private void agentGone(LiveBinding binding, String reason) {
    if (binder.current().filter(binding::equals).isPresent()
        && status.become(ServerState.ERROR, reason)) {
      LOG.log(System.Logger.Level.ERROR, "agent is gone: " + reason);
      ledger.bindingState(binding.runtimeId(), ServerState.ERROR.wireName(), reason);
      ledger.desync(binding.sessionKey(), reason);
    }
  }

  private LiveBinding requireReady() {
    status.requireReady();
    return binder.current().orElseThrow(() -> ServerStatus.notReady(status.now()));
  }

  static void requireBound(LiveBinding binding, SessionId asked) {
    if (!binding.sessionId().equals(asked)) {
      throw Problem.of(
          ErrorCode.BOUND_SESSION_MISMATCH,
          "This rollout binding only serves the registered session_id.",
          Map.of(
              "expected_session_id",
              binding.sessionId().value(),
              "actual_session_id",
              asked.value()));
    }
  }

  private TurnSnapshot find(String sessionId, String turnId) {
    SessionId session = SessionId.parse(sessionId);
    TurnId turn = TurnId.parse(turnId);
    SessionSnapshot found = findSession(session);
    return ledger
        .turn(found.key(), turn)
        .orElseThrow(
            () ->
                Problem.notFound(
                    "Turn does not exist.",
                    Map.of("session_id", session.value(), "turn_id", turn.value())));
  }

  /**
   * The bound session, or, while nothing is bound, the newest of that name that the ledger knows.
   */
  private SessionSnapshot findSession(SessionId id) {
    Optional<LiveBinding> live = binder.current();
    live.ifPresent(binding -> requireBound(binding, id));
    Optional<SessionSnapshot> session =
        live.isPresent()
            ? ledger.reads().session(live.get().sessionKey())
            : ledger.reads().session(id);
    return session.orElseThrow(
        () -> Problem.notFound("Session does not exist.", Map.of("session_id", id.value())));
  }

  private TurnView view(TurnSnapshot turn) {
    String state =
        ledger
            .reads()
            .session(turn.key().sessionKey())
            .map(session -> session.state().wireName())
            .orElseThrow(
                () -> new IllegalStateException("a turn without its session: " + turn.key()));
    return new TurnView(turn, state);
  }

  /** What turns tell about the agent's health. */
  private final class Watch implements TurnEngine.AgentWatch {
    @Override
    public void agentGone(LiveBinding binding, String reason) {
      RolloutControl.this.agentGone(binding, reason);
    }

    @Override
    public void lookAgain(LiveBinding binding) {
      try {
        if (!HealthMonitor.healthy(binding)) {
          RolloutControl.this.agentGone(
              binding, "the agent does not answer its health check after a failed turn");
        }
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
