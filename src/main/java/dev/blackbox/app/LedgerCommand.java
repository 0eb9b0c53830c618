package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.proxy.CapturedCalls;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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

  /** Shows which bodies of model calls are kept, or those of one. */
  @Command(
      name = "calls",
      customSynopsis = "bbs ledger calls [--body=CALL_ID] [OPTION...]",
      description = {
        "Lists the model calls whose bodies are kept, one line of JSON a call.",
        "Works while a server runs."
      },
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class Calls implements Callable<Integer> {

    @CommandLine.Spec private CommandSpec spec;

    @CommandLine.Option(
        names = "--body",
        paramLabel = "CALL_ID",
        description = "Prints the bodies of this call instead.")
    private @Nullable String callId;

    @Override
    public Integer call() {
      Path directory =
          Serve.read(SettingOptions.given(spec), System.err).proxy().capture().directory();
      try {
        if (callId != null) {
          CapturedCalls.copy(directory, callId, System.out);
          System.out.flush();
          return ExitCode.OK.number();
        }
        PrintWriter out = spec.commandLine().getOut();
        CapturedCalls.heads(directory).forEach(out::println);
        out.flush();
        long dropped = CapturedCalls.dropped(directory);
        if (dropped > 0) {
          PrintWriter err = spec.commandLine().getErr();
          err.println(dropped + " calls could not be kept.");
          err.flush();
        }
        return ExitCode.OK.number();
      } catch (IOException failed) {
        throw new ExitException(ExitCode.USAGE, String.valueOf(failed.getMessage()), failed);
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
