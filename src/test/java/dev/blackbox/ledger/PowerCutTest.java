package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole ledger, killed and without power, at operations of its disk. */
@Tag("crash")
class PowerCutTest {

  private static final int POWER_SEEDS = 20 * CrashTable.SCALE;
  private static final int KILL_SEEDS = 8 * CrashTable.SCALE;

  @Test
  void p1p11APowerCutLosesNothingAcknowledgedInPowerMode() throws Exception {
    CrashTable table = run("ledger, power cuts, power", POWER_SEEDS, Sync.POWER, true, "machine-2");
    table.print();
    assertThat(table.violations()).isEmpty();
    assertThat(table.points()).isGreaterThanOrEqualTo(POWER_SEEDS);
  }

  @Test
  void p1p11AKillLosesNothingAcknowledgedInEitherMode() throws Exception {
    for (Sync sync : Sync.values()) {
      CrashTable table = run("ledger, kills, " + sync, KILL_SEEDS, sync, false, LedgerSeed.MACHINE);
      table.print();
      assertThat(table.violations()).isEmpty();
    }
  }

  private static CrashTable run(
      String part, int seeds, Sync sync, boolean power, String machineAfterwards) throws Exception {
    CrashTable table = new CrashTable(part);
    for (int seed = 1; seed <= seeds; seed++) {
      Path root = CrashTable.directory();
      new LedgerSeed(seed, sync, power, machineAfterwards, root, table).run();
      CrashTable.delete(root);
    }
    return table;
  }
}
