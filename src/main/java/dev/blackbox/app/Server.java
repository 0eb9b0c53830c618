package dev.blackbox.app;

import dev.blackbox.agent.Backend;
import dev.blackbox.agent.Backends;
import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.control.ControlConfig;
import dev.blackbox.control.LedgerCallSink;
import dev.blackbox.control.LedgerProcessLog;
import dev.blackbox.control.RolloutControl;
import dev.blackbox.control.SecretOptions;
import dev.blackbox.http.HttpConfig;
import dev.blackbox.http.HttpDoor;
import dev.blackbox.http.PortTakenException;
import dev.blackbox.kernel.Closer;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.ProxyConfig;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The wiring: opens every room in its order, each owned by one {@link Closer}. The order is that of
 * recovery (design): ledger, what the last boot left, the proxy, the agent, and the door last.
 */
final class Server implements RunningServer {

  /** Of a container without an init program the server is the first process. */
  private static final long INIT_PID = 1;

  private final Closer closer;
  private final RolloutControl control;
  private final Ready ready;

  private Server(Closer closer, RolloutControl control, Ready ready) {
    this.closer = closer;
    this.control = control;
    this.ready = ready;
  }

  /** As {@link RunningServer.Opener#open}. */
  static RunningServer open(ServerConfiguration configuration) {
    return open(configuration, System.getenv(), UnaryOperator.identity());
  }

  /**
   * Opens a server.
   *
   * @param seam what the rooms see of the ledger; crash tests stop the world there
   */
  static RunningServer open(
      ServerConfiguration configuration,
      Map<String, String> environment,
      UnaryOperator<Ledger> seam) {
    return open(configuration, environment, seam, _ -> List.of());
  }

  /**
   * Opens a server with more backends than the standard ones.
   *
   * @param seam as above
   */
  static RunningServer open(
      ServerConfiguration configuration,
      Map<String, String> environment,
      UnaryOperator<Ledger> seam,
      Function<Processes, List<Backend>> more) {
    StartFailures.checkAddress(configuration.http().host(), configuration.http().port());
    StartFailures.checkWritable(Path.of(configuration.server().runtimeRoot()), "runtime root");
    Closer closer = new Closer();
    try {
      Ledger ledger = seam.apply(closer.own(openLedger(configuration)));
      InstantSource clock = InstantSource.system();
      ModelProxy proxy = closer.own(proxy(configuration.proxy(), ledger, clock));
      proxy.hide(SecretOptions.secrets(environment));
      proxy.hide(configuration.http().access().token().stream().toList());
      Processes processes = Processes.create(ledger.id(), new LedgerProcessLog(ledger));
      if (ProcessHandle.current().pid() == INIT_PID) {
        closer.own(Processes.collectOrphans());
      }
      Backends backends =
          Backends.standard(environment, processes, configuration.scriptAgent())
              .with(more.apply(processes));
      RolloutControl control =
          closer.own(
              RolloutControl.open(
                  new RolloutControl.Parts(
                      ledger,
                      proxy,
                      processes,
                      backends::find,
                      backends.implementedTypes(),
                      backends.knownTypes(),
                      ControlConfig.of(configuration.server())
                          .withPromptRoots(configuration.promptRoots()),
                      environment,
                      Version.number(),
                      clock)));
      HttpDoor door = closer.own(door(configuration.http(), control));
      // Once more, so that it is closed first: its waiters then get their answers before the door
      // closes.
      closer.own(control);
      URI address = address(configuration.http().host(), door.port());
      return new Server(
          closer,
          control,
          new Ready(
              address,
              configuration.ledger().directory(),
              ledger.boot(),
              control.recoverySummary()));
    } catch (RuntimeException failure) {
      throw closed(closer, failure);
    }
  }

  private static URI address(String host, int port) {
    return URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port);
  }

  private static Ledger openLedger(ServerConfiguration configuration) {
    try {
      return Ledger.open(
          configuration.ledger(),
          new LedgerFacts.BootStarting(
              Version.number(), ProcessHandle.current().pid(), Processes.machineBootId()),
          InstantSource.system());
    } catch (LedgerRefusedException refused) {
      throw StartFailures.of(refused);
    }
  }

  /** An agent that goes on after a crash knows the old port, so that one is tried first. */
  private static ModelProxy proxy(ProxyConfig config, Ledger ledger, InstantSource clock) {
    LedgerCallSink sink = new LedgerCallSink(ledger);
    int before = config.port() == 0 ? ledger.reads().lastProxyPort().orElse(0) : 0;
    if (before != 0) {
      try {
        return ModelProxy.start(config.withPort(before), sink, clock);
      } catch (UncheckedIOException taken) {
        refuseUnlessTaken(taken);
        System.getLogger(Server.class.getName())
            .log(
                System.Logger.Level.INFO,
                "the proxy's port of the boot before is taken; another is used");
      }
    }
    try {
      return ModelProxy.start(config, sink, clock);
    } catch (UncheckedIOException taken) {
      refuseUnlessTaken(taken);
      throw new ExitException(
          ExitCode.PORT_TAKEN,
          "the proxy's port " + config.port() + " is taken by another program; set --proxy-port.",
          taken);
    }
  }

  /** The proxy needs more than its port: a directory, if bodies are kept. */
  private static void refuseUnlessTaken(UncheckedIOException failure) {
    if (!(failure.getCause() instanceof BindException)) {
      throw new ExitException(
          ExitCode.NOT_WRITABLE, failure.getMessage() + ": " + failure.getCause(), failure);
    }
  }

  private static HttpDoor door(HttpConfig http, RolloutControl control) {
    try {
      return HttpDoor.start(http, control);
    } catch (PortTakenException taken) {
      throw new ExitException(ExitCode.PORT_TAKEN, String.valueOf(taken.getMessage()), taken);
    }
  }

  private static RuntimeException closed(Closer closer, RuntimeException failure) {
    try {
      closer.close();
    } catch (RuntimeException another) {
      failure.addSuppressed(another);
    }
    return failure;
  }

  @Override
  public Ready ready() {
    return ready;
  }

  @Override
  public void hurry() {
    control.hurry();
  }

  @Override
  public void close() {
    closer.close();
  }
}
