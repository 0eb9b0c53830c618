package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Timestamps;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** Looks at the ledger of a server that does not run. */
@Command(
    name = "ledger",
    description = "Looks at the ledger of a server that does not run.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Root.class)
final class LedgerCommand implements Callable<Integer> {

  /** Longest value that the timeline shows whole, in UTF-16 units. */
  private static final int VALUE_MAX = 80;

  @CommandLine.Spec private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE.number();
  }

  /** Checks every link of the history. */
  @Command(
      name = "check",
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
              + " events, from "
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
      description = "Prints what happened, one line an event.",
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class Timeline implements Callable<Integer> {

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
        print(ledger.reads(), from, spec.commandLine().getOut());
        return ExitCode.OK.number();
      }
    }
  }

  /** Prints all events from a sequence number on. */
  static void print(LedgerReads reads, long from, PrintWriter out) {
    final int page = 1000;
    long next = from;
    List<LedgerFacts.Event> events;
    do {
      events = reads.events(next, page);
      for (LedgerFacts.Event event : events) {
        out.println(line(event));
        next = event.sequence() + 1;
      }
    } while (events.size() == page);
    out.flush();
  }

  private static String line(LedgerFacts.Event event) {
    return "%6d  %s  %-21s %s"
        .formatted(
            event.sequence(), Timestamps.iso(event.at()), event.type(), details(event.headJson()))
        .stripTrailing();
  }

  /** The fields of a head as {@code name=value}; of a body that it only names, the length. */
  private static String details(String headJson) {
    StringJoiner details = new StringJoiner(" ");
    Json.object(headJson)
        .forEach(
            (name, value) -> {
              if (value != null && !name.equals("type") && !name.equals("at")) {
                details.add(name + "=" + shown(value));
              }
            });
    return details.toString();
  }

  private static String shown(Object value) {
    if (value instanceof Map<?, ?> body && body.containsKey("sha256")) {
      return "(" + body.get("length") + " bytes)";
    }
    String text = value instanceof String string ? string : Json.write(value);
    return text.length() <= VALUE_MAX ? text : text.substring(0, VALUE_MAX) + "…";
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
