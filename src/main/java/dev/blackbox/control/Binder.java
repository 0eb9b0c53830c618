package dev.blackbox.control;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.control.Rollout.BindingView;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes and ends bindings. Registrations are served one after the other; nothing else ever waits
 * for one. A refused registration leaves no trace: everything that can be checked is checked before
 * anything is torn down.
 */
final class Binder {

  private static final System.Logger LOG = System.getLogger(Binder.class.getName());

  private final Ledger ledger;
  private final ModelProxy proxy;
  private final Function<String, Optional<Backend>> backends;
  private final AgentStarts starts;
  private final PauseControl pauses;
  private final Work work;
  private final ServerStatus status;
  private final ControlConfig config;
  private final String serverVersion;
  private final InstantSource clock;
  private final UnregisteredBinding unregistered;
  private final RuntimeDirectories directories = new RuntimeDirectories();
  private final Semaphore oneAtATime = new Semaphore(1, true);
  private final AtomicReference<@Nullable LiveBinding> current = new AtomicReference<>();

  /** What goes on in a binding; the engine's and the commands' side of it. */
  interface Work {
    /** Ends the session's turn and commands, and waits a bounded time for that. */
    void end(long sessionKey) throws InterruptedException;

    /** Lets run what waited for this binding since the boot before. */
    void launchQueued(LiveBinding binding);
  }

  Binder(
      Ledger ledger,
      ModelProxy proxy,
      Function<String, Optional<Backend>> backends,
      Processes processes,
      PauseControl pauses,
      Work work,
      ServerStatus status,
      ControlConfig config,
      String serverVersion,
      InstantSource clock) {
    this.ledger = ledger;
    this.proxy = proxy;
    this.backends = backends;
    this.starts = new AgentStarts(proxy, processes, clock);
    this.pauses = pauses;
    this.work = work;
    this.status = status;
    this.unregistered = new UnregisteredBinding(ledger);
    this.config = config;
    this.serverVersion = serverVersion;
    this.clock = clock;
  }

  Optional<LiveBinding> current() {
    return Optional.ofNullable(current.get());
  }

  /** Binds, or returns the binding that stands. */
  BindingView register(RegisterRequest request) throws InterruptedException {
    if (status.state() == ServerState.SHUTTING_DOWN) {
      throw ServerStatus.notReady(status.now());
    }
    Registration registration =
        Registration.check(
            request,
            backends,
            config.settings(),
            config.systemPromptBytesMax(),
            config.promptRoots());
    oneAtATime.acquire();
    try {
      return registerAlone(registration);
    } finally {
      oneAtATime.release();
    }
  }

  private BindingView registerAlone(Registration registration) throws InterruptedException {
    LiveBinding standing = current.get();
    if (standing != null && isRepeat(registration, standing)) {
      return standing.view();
    }
    registration
        .promptFileLost()
        .ifPresent(
            lost -> {
              throw lost;
            });
    if (standing != null) {
      refuseWhileSessionsAreOpen(registration, standing);
    }
    Optional<LedgerFacts.OpenBinding> left = unregistered.waiting();
    boolean goesOn =
        left.filter(open -> open.binding().fingerprint().equals(registration.fingerprint()))
            .isPresent();
    if (left.isPresent() && !goesOn) {
      throw rebindRefused(registration.sessionId());
    }
    Backend.Plan plan = plan(registration);
    Optional<Path> directory = goesOn ? Optional.empty() : Optional.of(newDirectory(registration));
    try {
      initializing();
      LiveBinding made =
          directory.isPresent()
              ? bindAnew(registration, plan, directory.get())
              : goOn(left.orElseThrow(), registration);
      current.set(made);
      status.become(ServerState.READY, "");
      if (goesOn) {
        work.launchQueued(made);
      }
      return made.view();
    } finally {
      // Whatever went wrong: the next registration must find a state that it can leave.
      if (status.state() == ServerState.INITIALIZING) {
        status.become(ServerState.ERROR, "a registration failed; the log says why");
        directory.ifPresent(directories::remove);
      }
    }
  }

  private void initializing() {
    if (!status.become(ServerState.INITIALIZING, "")) {
      throw ServerStatus.notReady(status.now());
    }
  }

  private LiveBinding goOn(LedgerFacts.OpenBinding left, Registration registration) {
    LiveBinding live = resumeAlone(left, registration);
    unregistered.forget();
    ledger.bindingState(live.runtimeId(), ServerState.READY.wireName(), "");
    return live;
  }

  /** Before anything is torn down: a root that cannot be written refuses the registration. */
  private Path newDirectory(Registration registration) {
    try {
      return directories.create(Path.of(registration.effective().runtimeRoot()), clock.instant());
    } catch (IOException failure) {
      String reason = "the runtime directory cannot be made: " + failure;
      if (current.get() == null) {
        status.become(ServerState.INITIALIZING, "");
        throw failed(registration.backend().type(), reason, failure);
      }
      throw problem(registration.backend().type(), reason, failure);
    }
  }

  /**
   * The same parameters are a no-op while the binding is usable: not after an abort, and not in
   * error.
   */
  private boolean isRepeat(Registration registration, LiveBinding standing) {
    if (status.state() != ServerState.READY || sessionState(standing) == SessionState.ABORTED) {
      return false;
    }
    return registration.promptFileLost().isPresent()
        ? registration.parametersFingerprint().equals(standing.parametersFingerprint())
        : registration.fingerprint().equals(standing.fingerprint());
  }

  private void refuseWhileSessionsAreOpen(Registration registration, LiveBinding standing) {
    boolean same = registration.fingerprint().equals(standing.fingerprint());
    if (!same && sessionState(standing) != SessionState.ABORTED) {
      throw rebindRefused(standing.sessionId());
    }
  }

  private static Problem rebindRefused(SessionId open) {
    return Problem.conflict(
        "Cannot rebind while active or desynced sessions still exist. Abort session "
            + open
            + " first.",
        Map.of());
  }

  private SessionState sessionState(LiveBinding binding) {
    return ledger
        .reads()
        .session(binding.sessionKey())
        .map(SessionSnapshot::state)
        .orElse(SessionState.ABORTED);
  }

  private Backend.Plan plan(Registration registration) {
    try {
      return registration.backend().plan(registration.agentOptions());
    } catch (Problem refused) {
      if (refused.code() == ErrorCode.BACKEND_ERROR && current.get() == null) {
        status.become(ServerState.INITIALIZING, "");
        status.become(ServerState.ERROR, refused.text());
      }
      throw refused;
    }
  }

  private LiveBinding bindAnew(Registration registration, Backend.Plan plan, Path directory)
      throws InterruptedException {
    String type = registration.backend().type();
    tearDown("replaced by another registration");
    Secret agentKey = Secret.random("bbs-");
    Agent agent;
    try {
      agent = starts.start(registration, plan, directory, agentKey, 0, Optional.empty());
    } catch (AgentStartException failure) {
      directories.setAside(directory, config.failedRuntimesKept());
      throw failed(type, failure.getMessage(), failure);
    }
    try {
      LedgerFacts.Binding binding =
          StoredRegistrations.binding(
              registration,
              directory,
              BindingViews.config(registration, plan.identity(), serverVersion),
              proxy.port(),
              clock.instant());
      LedgerFacts.Bound bound = ledger.bind(binding);
      proxy.bind(AgentStarts.proxyBinding(registration, agentKey));
      return LiveBinding.of(
          registration, directory, agent, bound.sessionKey(), binding.viewJson(), 1);
    } catch (RuntimeException ledgerDown) {
      agent.close();
      proxy.unbind();
      directories.remove(directory);
      status.become(ServerState.ERROR, "the ledger could not record the binding");
      throw ledgerDown;
    }
  }

  /**
   * Goes on with the binding of the boot before: same directory, same session, the agent's own
   * conversation. The state is {@code initializing} already.
   *
   * @return empty if that needs the registration once more, because it had secrets; the server is
   *     then in {@code error}, and its session and what waits there stay as they are
   * @throws Problem if that cannot be done; the server is then in {@code error}, and says why
   */
  Optional<LiveBinding> resume(LedgerFacts.OpenBinding open) throws InterruptedException {
    oneAtATime.acquire();
    try {
      Optional<String> missing = unregistered.missing(open);
      if (missing.isPresent()) {
        errorAtBoot(open, missing.get());
        return Optional.empty();
      }
      LiveBinding live =
          resumeAlone(
              open,
              StoredRegistrations.read(
                  open.binding(), backends, config.settings(), config.systemPromptBytesMax()));
      current.set(live);
      ledger.bindingState(live.runtimeId(), ServerState.READY.wireName(), "");
      status.become(ServerState.READY, "");
      return Optional.of(live);
    } catch (RuntimeException failure) {
      String reason = reason(failure);
      errorAtBoot(open, reason);
      ledger.desync(open.sessionKey(), reason);
      throw failure;
    } finally {
      oneAtATime.release();
    }
  }

  private void errorAtBoot(LedgerFacts.OpenBinding open, String reason) {
    status.become(ServerState.ERROR, reason);
    ledger.bindingState(open.binding().runtimeId(), ServerState.ERROR.wireName(), reason);
  }

  private LiveBinding resumeAlone(LedgerFacts.OpenBinding open, Registration registration) {
    Backend.Plan plan = registration.backend().plan(registration.agentOptions());
    String configJson = BindingViews.config(registration, plan.identity(), serverVersion);
    String configHash = StoredRegistrations.hash(configJson);
    if (!configHash.equals(open.binding().configHash())) {
      throw failed(
          registration.backend().type(),
          "the configuration is not the one of before the restart: its hash was "
              + open.binding().configHash()
              + " and is "
              + configHash
              + ". Register again.",
          null);
    }
    Path directory =
        Path.of(registration.effective().runtimeRoot())
            .toAbsolutePath()
            .resolve(open.binding().runtimeId());
    Optional<String> agentSession =
        ledger.reads().session(open.sessionKey()).flatMap(SessionSnapshot::backendSessionId);
    Secret agentKey = Secret.random("bbs-");
    try {
      Agent agent =
          starts.start(registration, plan, directory, agentKey, open.sessionKey(), agentSession);
      return LiveBinding.of(
          registration,
          directory,
          agent,
          open.sessionKey(),
          open.binding().viewJson(),
          TraceSequences.next(ledger.reads(), open.sessionKey()));
    } catch (AgentStartException failure) {
      throw failed(registration.backend().type(), failure.getMessage(), failure);
    }
  }

  /** Ends the binding that stands, if one does: agent, proxy, pause, directory. */
  private void tearDown(String reason) throws InterruptedException {
    unregistered.forget();
    LiveBinding old = current.get();
    if (old != null) {
      work.end(old.sessionKey());
      // The session ends before its agent, so that no turn that still waits meets what comes next.
      ledger.abort(old.sessionKey(), reason);
      work.end(old.sessionKey());
      current.set(null);
      closeAgent(old);
      proxy.unbind();
    }
    pauses.reset();
    Optional<LedgerFacts.OpenBinding> left = ledger.reads().openBinding();
    if (left.isPresent()) {
      ledger.abort(left.get().sessionKey(), reason);
      ledger.unbind(left.get().binding().runtimeId(), reason);
      Object directory = Json.object(left.get().binding().viewJson()).get("runtime_dir");
      if (directory instanceof String path) {
        directories.remove(Path.of(path));
      }
    }
  }

  /** At shutdown: the agent ends, the binding stays in the ledger for the next boot. */
  void closeAgent() {
    LiveBinding live = current.get();
    if (live != null) {
      closeAgent(live);
    }
    proxy.unbind();
  }

  private static void closeAgent(LiveBinding binding) {
    try {
      binding.agent().close();
    } catch (RuntimeException failure) {
      LOG.log(
          System.Logger.Level.WARNING,
          "agent of " + binding.runtimeId() + " did not end cleanly",
          failure);
    }
  }

  private static String reason(RuntimeException failure) {
    return failure instanceof Problem problem ? problem.text() : "a failure in our own code";
  }

  private Problem failed(String type, @Nullable String reason, @Nullable Throwable cause) {
    Problem problem = problem(type, reason, cause);
    status.become(ServerState.ERROR, problem.text());
    return problem;
  }

  private static Problem problem(String type, @Nullable String reason, @Nullable Throwable cause) {
    return new Problem(
        ErrorCode.BACKEND_ERROR,
        "Failed to initialize backend: " + reason,
        Map.of("blackbox_type", type),
        cause);
  }
}
