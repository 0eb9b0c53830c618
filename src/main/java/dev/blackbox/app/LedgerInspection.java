package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.ledger.LedgerRefusedException;
import java.time.InstantSource;

/**
 * A ledger that is only read, by a command and not by a server. Opening it applies the journal's
 * tail, as any opening does, and is recorded as a boot, marked as what it is.
 */
public final class LedgerInspection implements Resource {

  private final Ledger ledger;

  private LedgerInspection(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Takes the lock, so it fails with {@link ExitCode#STATE_LOCKED} while a server runs. */
  public static LedgerInspection open(LedgerConfig config) {
    try {
      return new LedgerInspection(
          Ledger.open(
              config,
              new LedgerFacts.BootStarting(
                  Version.number() + " (ledger command)", ProcessHandle.current().pid(), ""),
              InstantSource.system()));
    } catch (LedgerRefusedException refused) {
      throw StartFailures.of(refused);
    }
  }

  public LedgerReads reads() {
    return ledger.reads();
  }

  @Override
  public void close() {
    ledger.close();
  }
}
