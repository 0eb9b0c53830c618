package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.nio.file.Path;
import java.time.Duration;

/** Opens ledgers for the crash rig of other rooms. */
public final class CrashLedgers {

  private CrashLedgers() {}

  /**
   * Forces its database often.
   *
   * @param machine the machine's boot id
   */
  public static Ledger open(Path directory, String machine, CutDisk disk)
      throws LedgerRefusedException {
    return Ledgers.open(config(directory), boot(machine), disk);
  }

  /** On the real disk. */
  public static Ledger open(Path directory, String machine) throws LedgerRefusedException {
    return Ledgers.open(config(directory), boot(machine), JournalFiles.in(directory));
  }

  private static LedgerConfig config(Path directory) {
    return new LedgerConfig(directory, Sync.POWER, 256, 20_000, Duration.ofMillis(20), 2);
  }

  private static LedgerFacts.BootStarting boot(String machine) {
    return new LedgerFacts.BootStarting("test", ProcessHandle.current().pid(), machine);
  }
}
