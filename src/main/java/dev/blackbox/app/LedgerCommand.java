package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** Looks at the ledger of a server, copies it, and puts it right. */
@Command(
    name = "ledger",
    description = "Looks at the ledger of a server, copies it, and puts it right.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Root.class)
final class LedgerCommand implements Callable<Integer> {

  @CommandLine.Spec private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE.number();
  }

  /** Checks every link of the history. */
  @Command(
      name = "check",
      customSynopsis = "bbs ledger check [OPTION...]",
      description = "Checks every link of the history, and every stored body against its digest.",
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class Check implements Callable<Integer> {

    @CommandLine.Spec private CommandSpec spec;

    @Override
    public Integer call() {
      try (LedgerInspection ledger = opened(spec)) {
        return report(ledger.reads().verify(), spec.commandLine().getOut());
      }
    }

    private static int report(LedgerFacts.ChainReport report, PrintWriter out) {
      report.problems().forEach(out::println);
      out.println(
          (report.problems().isEmpty() ? "whole: " : "NOT WHOLE: ")
              + report.events()
              + " events"
              + (report.eventsTrimmed() == 0
                  ? ""
                  : " (" + report.eventsTrimmed() + " more were trimmed)")
              + ", from "
              + report.firstSequence()
              + " to "
              + report.lastSequence()
              + ", last hash "
              + report.lastHash());
      out.flush();
      return (report.problems().isEmpty() ? ExitCode.OK : ExitCode.LEDGER_DAMAGED).number();
    }
  }

  /** Prints what happened. */
  @Command(
      name = "timeline",
      customSynopsis = "bbs ledger timeline [--from=N] [OPTION...]",
      description = "Prints what happened, one line an event.",
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class TimelineCommand implements Callable<Integer> {

    @CommandLine.Spec private CommandSpec spec;

    @CommandLine.Option(
        names = "--from",
        paramLabel = "N",
        defaultValue = "1",
        description = "First sequence number; default: ${DEFAULT-VALUE}.")
    private long from;

    @Override
    public Integer call() {
      try (LedgerInspection ledger = opened(spec)) {
        Timeline.FULL.print(ledger.reads(), from, spec.commandLine().getOut());
        return ExitCode.OK.number();
      }
    }
  }

  private static LedgerInspection opened(CommandSpec spec) {
    Logging.start(LogLevel.WARNING);
    LedgerConfig config = Serve.read(SettingOptions.given(spec), System.err).ledger();
    if (!Files.isDirectory(config.directory())) {
      throw new ExitException(
          ExitCode.USAGE, config.directory() + " is no state directory; set --state-dir.");
    }
    return LedgerInspection.open(config);
  }
}
