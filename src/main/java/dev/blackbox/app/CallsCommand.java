package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.ledger.LedgerFacts.CallRecord;
import dev.blackbox.proxy.CaptureDecision;
import dev.blackbox.proxy.CapturedCalls;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

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
final class CallsCommand implements Callable<Integer> {

  @CommandLine.Spec private CommandSpec spec;

  @CommandLine.Option(
      names = "--body",
      paramLabel = "CALL_ID",
      description =
          "Prints the bodies of this call instead (the call_id of its events in the timeline), or"
              + " says why they are not kept.")
  private @Nullable String callId;

  @Override
  public Integer call() {
    ServerConfiguration configuration = Serve.read(SettingOptions.given(spec), System.err);
    Path directory = configuration.proxy().capture().directory();
    try {
      if (callId == null) {
        list(directory);
      } else if (CapturedCalls.copy(directory, callId, System.out)) {
        System.out.flush();
      } else {
        throw new ExitException(
            ExitCode.USAGE, "The bodies of call " + callId + " " + tale(configuration, callId));
      }
      return ExitCode.OK.number();
    } catch (IOException failed) {
      throw new ExitException(ExitCode.USAGE, String.valueOf(failed.getMessage()), failed);
    }
  }

  private void list(Path directory) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    CapturedCalls.heads(directory).forEach(out::println);
    out.flush();
    long dropped = CapturedCalls.dropped(directory);
    if (dropped > 0) {
      PrintWriter err = spec.commandLine().getErr();
      err.println(dropped + " calls could not be kept.");
      err.flush();
    }
  }

  /** What became of bodies that are not there. The list beside them knows the last ones. */
  private static String tale(ServerConfiguration configuration, String callId) throws IOException {
    Optional<String> listed =
        CapturedCalls.tale(configuration.proxy().capture().directory(), callId);
    return listed.isPresent() ? listed.get() + "." : ledgersTale(configuration, callId);
  }

  private static String ledgersTale(ServerConfiguration configuration, String callId) {
    Logging.start(LogLevel.WARNING);
    if (!Files.isDirectory(configuration.ledger().directory())) {
      return "are not kept: " + configuration.ledger().directory() + " is no state directory.";
    }
    try (LedgerInspection ledger = LedgerInspection.open(configuration.ledger())) {
      Optional<CallRecord> call = ledger.reads().call(callId);
      return call.isEmpty()
          ? "are not kept, and the ledger has no such call."
          : "are not kept: " + why(call.get());
    } catch (ExitException refused) {
      return "are not kept, and what is gone is listed without them. The ledger may know why, but"
          + " cannot be read now: "
          + refused.reason();
    }
  }

  private static String why(CallRecord call) {
    if (call.end().isEmpty()) {
      return "it has not ended.";
    }
    Optional<String> capture = call.end().get().capture();
    return capture.isEmpty()
        ? "the server was ended while it ran, or it is of before this was recorded."
        : switch (CaptureDecision.ofWireName(capture.get())) {
          case OFF -> "none were when it ended (BBS_CAPTURE=off).";
          case NOT_WANTED ->
              "they were not wanted (it went well and BBS_CAPTURE was errors, or the engine was"
                  + " not asked).";
          case DROPPED -> "there was no memory for them (BBS_CAPTURE_MEMORY_BYTES_MAX).";
          case WANTED ->
              "they were to be, but the server was killed before that or its disk was full, or they"
                  + " were deleted longer ago than what is listed.";
        };
  }
}
