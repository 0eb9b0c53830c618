package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.process.Processes;
import java.time.InstantSource;

/** A ledger that is only read, by a command and not by a server: it gets no boot from that. */
public final class LedgerInspection implements Resource {

  private final Ledger.Inspection ledger;

  private LedgerInspection(Ledger.Inspection ledger) {
    this.ledger = ledger;
  }

  /** Takes the lock, so it fails with {@link ExitCode#STATE_LOCKED} while a server runs. */
  public static LedgerInspection open(LedgerConfig config) {
    try {
      return new LedgerInspection(
          Ledger.inspect(config, Processes.machineBootId(), InstantSource.system()));
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
