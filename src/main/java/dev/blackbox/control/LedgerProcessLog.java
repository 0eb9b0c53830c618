package dev.blackbox.control;

import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.process.ProcessLog;

/** Records every process in the ledger before it can do anything that matters (P7). */
public final class LedgerProcessLog implements ProcessLog {

  private final Ledger ledger;

  public LedgerProcessLog(Ledger ledger) {
    this.ledger = ledger;
  }

  @Override
  public void started(String kind, ProcessIdentity identity) {
    ledger.processStarted(
        new LedgerFacts.ProcessStart(
            kind, identity.pid(), identity.startTicks(), identity.machineBootId()));
  }

  @Override
  public void ended(ProcessIdentity identity, int exitCode) {
    ledger.processEnded(
        new LedgerFacts.ProcessEnd(
            identity.pid(), identity.startTicks(), identity.machineBootId(), exitCode));
  }
}
