package dev.blackbox.app;

import dev.blackbox.config.Setting;
import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;

/** Starts here. Every way to end has an {@link ExitCode}, and only this type exits. */
public final class Main {

  private Main() {}

  /** Runs one command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(run(arguments, Server::open, System.err));
  }

  /**
   * Runs one command. A plain {@code serve} does not go through the command line library: that
   * costs 0.25 s of CPU at every start, because its class files are too old for the start-up cache.
   *
   * @param opener what {@code serve} and {@code train} open
   * @return the number of an {@link ExitCode}
   */
  static int run(String[] arguments, RunningServer.Opener opener, PrintStream errors) {
    Optional<Map<Setting, String>> plain = PlainServe.options(arguments);
    if (plain.isEmpty()) {
      return Commands.run(arguments, opener);
    }
    try {
      return Serve.run(opener, plain.get(), errors);
    } catch (Exception failure) {
      return report(failure, errors);
    }
  }

  /** Says in a line per reason why a command failed, and returns its exit code. */
  static int report(Exception failure, PrintStream errors) {
    if (failure instanceof ExitException expected) {
      expected.reason().lines().forEach(line -> errors.println("bbs: " + line));
      errors.flush();
      return expected.code().number();
    }
    // Asked for late, because the first logger settles how logging is set up.
    System.getLogger(Main.class.getName())
        .log(Level.ERROR, "a fault of the program itself", failure);
    errors.println("bbs: a fault of the program itself: " + failure);
    errors.flush();
    return ExitCode.INTERNAL.number();
  }
}
