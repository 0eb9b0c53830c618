package dev.blackbox.control;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.control.Rollout.BindingView;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Secret;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.ProxyBinding;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.wire.Fingerprints;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongConsumer;
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
  private final Processes processes;
  private final PauseControl pauses;
  private final ServerStatus status;
  private final LongConsumer endTurns;
  private final ControlConfig config;
  private final String serverVersion;
  private final InstantSource clock;
  private final RuntimeDirectories directories = new RuntimeDirectories();
  private final Semaphore oneAtATime = new Semaphore(1, true);
  private final AtomicReference<@Nullable LiveBinding> current = new AtomicReference<>();

  Binder(
      Ledger ledger,
      ModelProxy proxy,
      Function<String, Optional<Backend>> backends,
      Processes processes,
      PauseControl pauses,
      ServerStatus status,
      LongConsumer endTurns,
      ControlConfig config,
      String serverVersion,
      InstantSource clock) {
    this.ledger = ledger;
    this.proxy = proxy;
    this.backends = backends;
    this.processes = processes;
    this.pauses = pauses;
    this.status = status;
    this.endTurns = endTurns;
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

  private BindingView registerAlone(Registration registration) {
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
    Backend.Plan plan = plan(registration);
    if (!status.become(ServerState.INITIALIZING, "")) {
      throw ServerStatus.notReady(status.now());
    }
    try {
      tearDown("replaced by another registration");
      LiveBinding made = bindAnew(registration, plan);
      current.set(made);
      status.become(ServerState.READY, "");
      return made.view();
    } catch (RuntimeException failure) {
      // Whatever it was: from error, and only from there, another registration leads out.
      status.become(ServerState.ERROR, "the registration failed: " + reason(failure));
      throw failure;
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
      throw Problem.conflict(
          "Cannot rebind while active or desynced sessions still exist. Abort session "
              + standing.sessionId()
              + " first.",
          Map.of());
    }
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

  private LiveBinding bindAnew(Registration registration, Backend.Plan plan) {
    String type = registration.backend().type();
    Path directory;
    try {
      directory =
          directories.create(Path.of(registration.effective().runtimeRoot()), clock.instant());
    } catch (IOException failure) {
      throw failed(type, "the runtime directory cannot be made: " + failure, failure);
    }
    Secret agentKey = Secret.random("bbs-");
    Agent agent;
    try {
      agent = startAgent(registration, plan, directory, agentKey, 0, Optional.empty());
    } catch (AgentStartException failure) {
      directories.setAside(directory, config.failedRuntimesKept());
      throw failed(type, failure.getMessage(), failure);
    }
    try {
      String viewJson = BindingViews.binding(registration, directory, clock.instant());
      String configJson = BindingViews.config(registration, plan.identity(), serverVersion);
      LedgerFacts.Bound bound =
          ledger.bind(
              new LedgerFacts.Binding(
                  directory.getFileName().toString(),
                  type,
                  registration.fingerprint(),
                  StoredRegistrations.write(registration),
                  Fingerprints.sha256Hex(configJson.getBytes(StandardCharsets.UTF_8)),
                  configJson,
                  viewJson,
                  registration.sessionId(),
                  registration.instanceId(),
                  proxy.port(),
                  registration.systemPrompt().filter(prompt -> !prompt.text().isBlank()),
                  OptionalLong.empty()));
      proxy.bind(proxyBinding(registration, agentKey, bound.sessionKey()));
      return LiveBinding.of(registration, directory, agent, bound.sessionKey(), viewJson, 1);
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
   * @throws Problem if that cannot be done; the server is then in {@code error}, and says why
   */
  LiveBinding resume(LedgerFacts.OpenBinding open) throws InterruptedException {
    oneAtATime.acquire();
    try {
      LiveBinding live = resumeAlone(open);
      current.set(live);
      ledger.bindingState(live.runtimeId(), ServerState.READY.wireName(), "");
      status.become(ServerState.READY, "");
      return live;
    } catch (RuntimeException failure) {
      String reason = reason(failure);
      status.become(ServerState.ERROR, reason);
      ledger.bindingState(open.binding().runtimeId(), ServerState.ERROR.wireName(), reason);
      ledger.desync(open.sessionKey(), reason);
      throw failure;
    } finally {
      oneAtATime.release();
    }
  }

  private LiveBinding resumeAlone(LedgerFacts.OpenBinding open) {
    Registration registration =
        StoredRegistrations.read(
            open.binding(), backends, config.settings(), config.systemPromptBytesMax());
    Backend.Plan plan = registration.backend().plan(registration.agentOptions());
    String configJson = BindingViews.config(registration, plan.identity(), serverVersion);
    String configHash = Fingerprints.sha256Hex(configJson.getBytes(StandardCharsets.UTF_8));
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
          startAgent(registration, plan, directory, agentKey, open.sessionKey(), agentSession);
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

  /** The proxy serves the agent before it starts, since some agents look for their models first. */
  private Agent startAgent(
      Registration registration,
      Backend.Plan plan,
      Path directory,
      Secret agentKey,
      long sessionKey,
      Optional<String> knownSession)
      throws AgentStartException {
    ServerSettings settings = registration.effective();
    proxy.bind(proxyBinding(registration, agentKey, sessionKey));
    try {
      return plan.start(
          new AgentSlot(
              directory,
              registration.sessionId(),
              registration.instanceId(),
              URI.create("http://127.0.0.1:" + proxy.port() + registration.router().apiPrefix()),
              agentKey,
              Duration.ofMillis(settings.routerTimeout()),
              registration.systemPrompt().map(SessionSnapshot.SystemPrompt::text),
              knownSession,
              Durations.ofSeconds(settings.healthCheckTimeout()),
              Durations.ofSeconds(settings.healthCheckInterval()),
              processes,
              clock));
    } catch (AgentStartException | RuntimeException failure) {
      proxy.unbind();
      throw failure;
    }
  }

  private static ProxyBinding proxyBinding(
      Registration registration, Secret agentKey, long sessionKey) {
    return new ProxyBinding(
        sessionKey,
        registration.sessionId(),
        registration.instanceId(),
        registration.request().sandboxId(),
        registration.router().origin(),
        registration.router().apiPrefix(),
        agentKey,
        registration.proxyOptions());
  }

  /** Ends the binding that stands, if one does: agent, proxy, pause, directory. */
  private void tearDown(String reason) {
    LiveBinding old = current.getAndSet(null);
    if (old == null) {
      ledger
          .reads()
          .openBinding()
          .ifPresent(
              left -> {
                ledger.abort(left.sessionKey(), reason);
                ledger.unbind(left.binding().runtimeId(), reason);
              });
      return;
    }
    // The session ends first, so that no turn of it that still waits meets what comes next.
    ledger.abort(old.sessionKey(), reason);
    closeAgent(old);
    endTurns.accept(old.sessionKey());
    proxy.unbind();
    pauses.reset();
    ledger.unbind(old.runtimeId(), reason);
    directories.remove(old.runtimeDirectory());
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
    String message = "Failed to initialize backend: " + reason;
    status.become(ServerState.ERROR, message);
    return new Problem(ErrorCode.BACKEND_ERROR, message, Map.of("blackbox_type", type), cause);
  }
}
