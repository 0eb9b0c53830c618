package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.control.Rollout.CommandSubmission;
import dev.blackbox.control.Rollout.ExecuteRequest;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.control.Rollout.Submission;
import dev.blackbox.control.Rollout.SubmitRequest;
import dev.blackbox.control.Rollout.TurnView;
import dev.blackbox.kernel.Closer;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.ProxyConfig;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.wire.Message;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The control room over a real ledger, a real proxy and real processes, with a {@link FakeBackend}
 * as its agent.
 */
final class ControlRig implements Resource {

  static final String SESSION = "sess-1";

  final FakeBackend backend;
  final Ledger ledger;
  final ModelProxy proxy;
  final RolloutControl control;
  private final Path root;
  private final Closer closer = new Closer();

  ControlRig(Path root, FakeBackend backend, UnaryOperator<ServerSettings> settings)
      throws LedgerRefusedException {
    this(root, backend, settings, ledger(root));
  }

  /** What the rig opens by itself. */
  static Ledger ledger(Path root) throws LedgerRefusedException {
    return Ledger.open(
        LedgerConfig.at(root.resolve("state")),
        new LedgerFacts.BootStarting("test", ProcessHandle.current().pid(), "test"),
        InstantSource.system());
  }

  /** Takes over the ledger. */
  ControlRig(
      Path root, FakeBackend backend, UnaryOperator<ServerSettings> settings, Ledger opened) {
    this.root = root;
    this.backend = backend;
    InstantSource clock = InstantSource.system();
    ledger = closer.own(opened);
    proxy = closer.own(ModelProxy.start(ProxyConfig.DEFAULTS, new LedgerCallSink(ledger), clock));
    Processes processes = Processes.create(ledger.id(), new LedgerProcessLog(ledger));
    ServerSettings base = settings.apply(withRoot(root));
    control =
        closer.own(
            RolloutControl.open(
                new RolloutControl.Parts(
                    ledger,
                    proxy,
                    processes,
                    type -> type.equals("fake") ? Optional.<Backend>of(backend) : Optional.empty(),
                    List.of("fake"),
                    List.of("fake"),
                    new ControlConfig(
                        base,
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(5),
                        Duration.ofMillis(50),
                        1 << 20,
                        4,
                        1 << 20,
                        2),
                    System.getenv(),
                    "test",
                    clock)));
  }

  ControlRig(Path root, FakeBackend backend) throws LedgerRefusedException {
    this(root, backend, UnaryOperator.identity());
  }

  private static ServerSettings withRoot(Path root) {
    return SettingOverrides.apply(
        ServerSettings.DEFAULTS,
        Map.of(
            "runtime_root",
            root.resolve("runtimes").toString(),
            "backend_timeout",
            20.0,
            "runtime_health_check_retries",
            2,
            "runtime_health_check_retry_delay",
            0.01));
  }

  ControlRig registered() {
    control.register(registration(Map.of()));
    return this;
  }

  RegisterRequest registration(Map<String, Object> serverConfig) {
    return new RegisterRequest(
        "fake",
        "http://127.0.0.1:9",
        "/v1",
        Optional.of(SESSION),
        Optional.of("inst-1"),
        Optional.empty(),
        Optional.empty(),
        Map.of(),
        serverConfig);
  }

  Submission submit(String turnId, String prompt) {
    return control.submit(
        new SubmitRequest(
            SESSION, Optional.of(turnId), true, List.of(Message.user(prompt)), Map.of()));
  }

  Submission submitWithoutId(String prompt) {
    return control.submit(
        new SubmitRequest(
            SESSION, Optional.empty(), false, List.of(Message.user(prompt)), Map.of()));
  }

  CommandSubmission execute(Optional<String> commandId, String cmd, double timeoutSeconds) {
    return control.execute(
        new ExecuteRequest(SESSION, commandId, cmd, Optional.of(timeoutSeconds)));
  }

  /** Runs a command and waits for its end. */
  CommandSnapshot command(Optional<String> commandId, String cmd, double timeoutSeconds) {
    return ended(execute(commandId, cmd, timeoutSeconds).command());
  }

  CommandSnapshot ended(CommandSnapshot command) {
    return control.awaitCommand(command.number(), Optional.of(Duration.ofSeconds(20))).command();
  }

  TurnView settled(String turnId) {
    return control.await(
        control.turn(SESSION, turnId).turn().key(), Optional.of(Duration.ofSeconds(20)));
  }

  TurnView run(String turnId, String prompt) {
    submit(turnId, prompt);
    return settled(turnId);
  }

  /** The same directory, opened by the next boot. */
  ControlRig reopened() throws LedgerRefusedException {
    close();
    return new ControlRig(root, backend);
  }

  @Override
  public void close() {
    closer.close();
  }
}
