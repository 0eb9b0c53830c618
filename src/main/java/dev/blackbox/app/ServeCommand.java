package dev.blackbox.app;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** {@code serve}, see {@link Serve}. */
@Command(
    name = "serve",
    customSynopsis = "bbs serve [OPTION...]",
    description = "Runs the server until SIGTERM or SIGINT. Options win over BBS_* variables.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Root.class)
final class ServeCommand implements Callable<Integer> {

  private final RunningServer.Opener opener;

  @CommandLine.Spec private CommandSpec spec;

  ServeCommand(RunningServer.Opener opener) {
    this.opener = opener;
  }

  @Override
  public Integer call() throws InterruptedException {
    return Serve.run(opener, SettingOptions.given(spec), System.err);
  }
}
