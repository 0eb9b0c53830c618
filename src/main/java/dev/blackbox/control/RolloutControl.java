package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Resource;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The control room's implementation: who may do what when, and the order of checks. */
public final class RolloutControl implements Rollout, Resource {

  private static final System.Logger LOG = System.getLogger(RolloutControl.class.getName());

  /** How long a cancel of a queued turn waits for its settlement before it answers. */
  private static final Duration CANCEL_LOOK = Duration.ofSeconds(2);

  private final Ledger ledger;
  private final ModelProxy proxy;
  private final ControlConfig config;
  private final ServerStatus status = new ServerStatus();
  private final PauseClock pauseClock = new PauseClock();
  private final PauseControl pauses;
  private final Binder binder;
  private final TurnEngine engine;
  private final Commands commands;
  private final Submissions submissions;
  private final HealthMonitor monitor;
  private final Lookups lookups;
  private final ServerReport report;
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
    return open(parts, Threads.VIRTUAL);
  }

  static RolloutControl open(Parts parts, Threads threads) {
    return new RolloutControl(parts, threads);
  }

  private RolloutControl(Parts parts, Threads threads) {
    ledger = parts.ledger();
    proxy = parts.proxy();
    config = parts.config();
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
            new BindingWork(),
            status,
            config,
            parts.serverVersion(),
            parts.clock());
    lookups = new Lookups(ledger, binder);
    engine = new TurnEngine(ledger, proxy, pauseClock, workspace, config, new Watch(), threads);
    Shell shell =
        new Shell(
            parts.processes(), parts.environment(), config.commandOutputBytesMax(), parts.clock());
    commands = new Commands(ledger, status, binder, workspace, shell, config, threads);
    submissions = new Submissions(ledger, status, binder, engine, this::agentGone);
    monitor =
        new HealthMonitor(
            this::watched,
            binding -> ledger.reads().activeTurn(binding.sessionKey()).isPresent(),
            this::agentGone,
            parts.clock(),
            threads);
    report =
        new ServerReport(
            ledger,
            status,
            binder,
            monitor,
            recovered,
            config.settings(),
            parts.implementedBackends(),
            parts.knownBackends());
    Optional<LedgerFacts.OpenBinding> left = ledger.reads().openBinding();
    left.map(LedgerFacts.OpenBinding::pause).ifPresent(pauses::restore);
    if (left.isPresent()) {
      status.become(ServerState.INITIALIZING, "");
    }
    resumption = threads.start("resume-binding", () -> left.ifPresent(this::resumeBinding));
  }

  /** One line for an operator: what was found and done at boot. */
  public String recoverySummary() {
    String recovery = recovered.summary();
    return ledger.putRight().map(what -> what + "; " + recovery).orElse(recovery);
  }

  @Override
  public StatusView status() {
    return report.status();
  }

  @Override
  public List<Check> checks() {
    return report.checks();
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
    return lookups.view(Interrupts.asProblem(() -> engine.await(turn, within)));
  }

  @Override
  public TurnView turn(String sessionId, String turnId) {
    return lookups.view(lookups.turn(sessionId, turnId));
  }

  @Override
  public CancelView cancel(String sessionId, String turnId) {
    TurnSnapshot found = lookups.turn(sessionId, turnId);
    if (found.state().isSettled()) {
      return new CancelView(lookups.view(found), found.state().wireName());
    }
    TurnSnapshot wished = ledger.requestCancel(found.key());
    engine.requestStop(found.key(), StopCause.CANCEL);
    if (wished.state() == TurnState.QUEUED) {
      wished = Interrupts.asProblem(() -> engine.await(found.key(), Optional.of(CANCEL_LOOK)));
    }
    String said = wished.state().isSettled() ? wished.state().wireName() : "cancel_requested";
    return new CancelView(lookups.view(wished), said);
  }

  @Override
  public CommandSubmission execute(ExecuteRequest request) {
    return commands.submit(request);
  }

  @Override
  public CommandView awaitCommand(long commandNumber, Optional<Duration> within) {
    return lookups.view(Interrupts.asProblem(() -> commands.await(commandNumber, within)));
  }

  @Override
  public CommandView command(String sessionId, String commandId) {
    return lookups.view(lookups.command(sessionId, commandId));
  }

  @Override
  public CommandView cancelCommand(String sessionId, String commandId) {
    CommandSnapshot now = commands.cancel(lookups.command(sessionId, commandId));
    return awaitCommand(now.number(), Optional.of(config.stopWithin()));
  }

  @Override
  public List<CommandSnapshot> commands(String sessionId, long afterNumber, int countMax) {
    SessionSnapshot session = lookups.session(SessionId.parse(sessionId));
    return ledger.reads().commands(session.key(), afterNumber, countMax);
  }

  @Override
  public SessionView session(String sessionId) {
    SessionSnapshot session = lookups.session(SessionId.parse(sessionId));
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
    SessionSnapshot session = lookups.session(SessionId.parse(sessionId));
    // First so that what the agent did is kept; again for what was admitted in between.
    Interrupts.asProblem(() -> endWork(session.key()));
    boolean first = ledger.abort(session.key(), "aborted by its controller");
    Interrupts.asProblem(() -> endWork(session.key()));
    // By its number: the name may mean a newer session by now.
    SessionSnapshot ended = ledger.reads().session(session.key()).orElse(session);
    return new AbortView(ended, first ? "best_effort" : "noop");
  }

  /** Ends the session's turns and its commands, and waits a bounded time for that. */
  private long endWork(long sessionKey) throws InterruptedException {
    engine.stopAll(sessionKey, StopCause.ABORT, config.stopWithin().multipliedBy(2));
    commands.stopAll(sessionKey, StopCause.ABORT, config.stopWithin());
    return sessionKey;
  }

  /** Ends everything that a {@link #close} would wait for, at once. Any thread. */
  public void hurry() {
    commands.hurry();
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
    try {
      if (binder.current().isPresent()) {
        long sessionKey = binder.current().get().sessionKey();
        commands.stopAll(sessionKey, StopCause.SHUTDOWN, config.stopWithin());
      }
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
      Optional<LiveBinding> live = binder.resume(left);
      live.ifPresent(this::launchQueued);
      LOG.log(
          System.Logger.Level.INFO,
          live.isPresent()
              ? "bound again: " + live.get().backendType() + " in " + live.get().runtimeId()
              : "not bound again: " + status.now().reason());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException failure) {
      String reason =
          failure instanceof Problem problem ? problem.text() : "a failure in our own code";
      LOG.log(System.Logger.Level.ERROR, "could not bind again: " + reason, failure);
      commands.settleWithoutAgent(sessionKey, reason);
      ledger.nextQueued(sessionKey).ifPresent(turn -> engine.settleWithoutAgent(turn, reason));
    }
  }

  private void launchQueued(LiveBinding live) {
    ledger
        .reads()
        .queuedCommands(live.sessionKey())
        .forEach(command -> commands.launch(live, command));
    ledger.nextQueued(live.sessionKey()).ifPresent(turn -> engine.launch(live, turn));
  }

  private Optional<LiveBinding> watched() {
    return status.state() == ServerState.READY ? binder.current() : Optional.empty();
  }

  private void agentGone(LiveBinding binding, String reason) {
    if (binder.current().filter(binding::equals).isPresent()
        && status.become(ServerState.ERROR, reason)) {
      LOG.log(System.Logger.Level.ERROR, "agent is gone: " + reason);
      try {
        ledger.bindingState(binding.runtimeId(), ServerState.ERROR.wireName(), reason);
        ledger.desync(binding.sessionKey(), reason);
      } catch (Problem ledgerDown) {
        // The state in memory keeps new turns out; the next boot starts the agent again anyway.
        LOG.log(
            System.Logger.Level.WARNING,
            "that the agent is gone could not be recorded: " + ledgerDown.text());
      }
      engine.agentLost(binding.sessionKey(), reason);
    }
  }

  private LiveBinding requireReady() {
    status.requireReady();
    return binder.current().orElseThrow(() -> ServerStatus.notReady(status.now()));
  }

  /** What the binder wants of turns and commands. */
  private final class BindingWork implements Binder.Work {
    @Override
    public void end(long sessionKey) throws InterruptedException {
      endWork(sessionKey);
    }

    @Override
    public void launchQueued(LiveBinding binding) {
      RolloutControl.this.launchQueued(binding);
    }
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
