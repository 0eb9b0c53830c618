package dev.blackbox.app;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** The command line: what commands there are, and how their failures are told. */
final class Commands {

  private Commands() {}

  /** Runs a command and returns the number of an {@link ExitCode}. */
  static int run(String[] arguments, RunningServer.Opener opener) {
    CommandLine line =
        new CommandLine(new Root())
            .addSubcommand(SettingOptions.on(new ServeCommand(opener)))
            .addSubcommand(new DemoCommand())
            .addSubcommand(new EngineCommand())
            .addSubcommand(new SoakCommand())
            .addSubcommand(
                new CommandLine(new LedgerCommand())
                    .addSubcommand(SettingOptions.on(new LedgerCommand.Check()))
                    .addSubcommand(SettingOptions.on(new LedgerCommand.TimelineCommand()))
                    .addSubcommand(SettingOptions.on(new CallsCommand()))
                    .addSubcommand(SettingOptions.on(new LedgerFilesCommands.Backup()))
                    .addSubcommand(SettingOptions.on(new LedgerFilesCommands.Restore()))
                    .addSubcommand(SettingOptions.on(new LedgerFilesCommands.Repair())))
            .addSubcommand(new TrainCommand(opener));
    line.setParameterExceptionHandler((error, _) -> usageError(error));
    line.setExecutionExceptionHandler((failure, _, _) -> Main.report(failure, System.err));
    return line.execute(arguments);
  }

  private static int usageError(CommandLine.ParameterException error) {
    CommandLine command = error.getCommandLine();
    PrintWriter errors = command.getErr();
    errors.println("bbs: " + error.getMessage());
    errors.println("See: " + command.getCommandSpec().qualifiedName() + " --help");
    errors.flush();
    return ExitCode.USAGE.number();
  }

  /** Without a command, it says what there is. */
  @Command(
      name = "bbs",
      description = "Drives one coding agent over HTTP, records all it does, loses nothing.",
      mixinStandardHelpOptions = true,
      versionProvider = Root.class,
      footer = {"", "bbs COMMAND --help tells more. Exit codes: docs/operations.md."})
  static final class Root implements Callable<Integer>, CommandLine.IVersionProvider {

    @CommandLine.Spec private CommandSpec spec;

    @Override
    public Integer call() {
      spec.commandLine().usage(spec.commandLine().getErr());
      return ExitCode.USAGE.number();
    }

    @Override
    public String[] getVersion() {
      return new String[] {Version.line()};
    }
  }
}
