package dev.blackbox.app;

import dev.blackbox.config.BadSettingsException;
import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.config.Setting;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;

/** Runs the server until it is told to end. */
final class Serve {

  /**
   * What an orderly end may take beyond the set time, for what comes after the agents: the ledger.
   */
  private static final Duration LIMIT_MARGIN = Duration.ofSeconds(5);

  private Serve() {}

  /**
   * Serves until a signal, then closes in order.
   *
   * @param options settings from the command line
   * @return the number of {@link ExitCode#OK}
   * @throws ExitException if it cannot run
   */
  static int run(RunningServer.Opener opener, Map<Setting, String> options, PrintStream errors)
      throws InterruptedException {
    ServerConfiguration configuration = read(options, errors);
    Logging.start(configuration.logLevel());
    Shutdown shutdown = new Shutdown(limit(configuration), errors);
    StopSignals.handle(shutdown::signalled);
    try (RunningServer server = opener.open(configuration)) {
      shutdown.onSecondSignal(server::hurry);
      System.out.println(server.ready().line());
      shutdown.await();
    }
    return ExitCode.OK.number();
  }

  /** Reads all settings: shipped defaults, this process's environment, the options given. */
  static ServerConfiguration read(Map<Setting, String> options, PrintStream errors) {
    try {
      ServerConfiguration configuration = ServerConfiguration.read(System.getenv(), options);
      for (String name : configuration.unknownVariables()) {
        errors.println("bbs: " + name + " is no setting, and is ignored.");
      }
      return configuration;
    } catch (BadSettingsException bad) {
      throw new ExitException(ExitCode.USAGE, String.join("\n", bad.problems()), bad);
    }
  }

  private static Duration limit(ServerConfiguration configuration) {
    return Duration.ofMillis((long) (configuration.server().shutdownTimeout() * 1000))
        .plus(LIMIT_MARGIN);
  }
}
