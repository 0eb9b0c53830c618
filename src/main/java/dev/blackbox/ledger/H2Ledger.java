package dev.blackbox.ledger;

import java.time.InstantSource;

/** Placeholder for the integrator's first compile; the ledger helper replaces this file. */
abstract class H2Ledger implements Ledger {
  @SuppressWarnings("DoNotCallSuggester")
  static Ledger open(LedgerConfig config, LedgerFacts.BootStarting boot, InstantSource clock)
      throws LedgerRefusedException {
    throw new LedgerRefusedException(
        LedgerRefusedException.Reason.DAMAGED, "no ledger yet: " + config + boot + clock, null);
  }
}
