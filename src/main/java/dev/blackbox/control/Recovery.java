package dev.blackbox.control;

import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.process.Processes;
import dev.blackbox.process.ReapReport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The first half of a boot, before any port is open: nothing of the boot before is left running or
 * open.
 */
final class Recovery {

  private static final System.Logger LOG = System.getLogger(Recovery.class.getName());

  /** How long to try to end what the last boot left. */
  private static final Duration REAP_WITHIN = Duration.ofSeconds(10);

  private Recovery() {}

  /**
   * Ends left processes, then settles what they were working on.
   *
   * @throws IllegalStateException if a process cannot be ended: to go on would break P7
   */
  static Report run(Ledger ledger) {
    List<LedgerFacts.LeftProcess> left = ledger.reads().leftProcesses();
    ReapReport reaped =
        Processes.reap(left.stream().map(Recovery::identity).toList(), ledger.id(), REAP_WITHIN);
    if (!reaped.isComplete()) {
      throw new IllegalStateException(
          "processes of an earlier boot could not be ended: "
              + reaped.left()
              + ". End them and start again.");
    }
    for (LedgerFacts.LeftProcess process : left) {
      ledger.processEnded(
          new LedgerFacts.ProcessEnd(
              process.pid(), process.startTicks(), process.machineBootId(), -9));
    }
    LedgerFacts.Recovered recovered = ledger.recover();
    if (reaped.ended() > 0) {
      LOG.log(
          System.Logger.Level.INFO, "ended " + reaped.ended() + " processes of an earlier boot");
    }
    return new Report(reaped.ended(), recovered);
  }

  private static ProcessIdentity identity(LedgerFacts.LeftProcess process) {
    return new ProcessIdentity(process.pid(), process.startTicks(), process.machineBootId());
  }

  /** What recovery did. */
  record Report(int processesEnded, LedgerFacts.Recovered settled) {

    /** The counts by what they count, in words of the operator's language. */
    Map<String, Number> counts() {
      Map<String, Number> counts = new LinkedHashMap<>();
      counts.put("turns interrupted", settled.turnsInterrupted());
      counts.put("turns queued", settled.turnsQueued());
      counts.put("model calls interrupted", settled.callsInterrupted());
      counts.put("commands interrupted", settled.commandsInterrupted());
      counts.put("processes ended", processesEnded);
      counts.put("facts applied from the journal", settled.factsApplied());
      return counts;
    }

    /** One line for an operator: what was found and done at boot. */
    String summary() {
      String found =
          counts().entrySet().stream()
              .filter(count -> count.getValue().longValue() > 0)
              .map(count -> count.getKey() + " " + count.getValue())
              .collect(Collectors.joining(", "));
      return found.isEmpty() ? "nothing to recover" : "recovered: " + found;
    }
  }
}
