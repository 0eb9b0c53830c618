package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The whole ledger, killed and without power, at operations of its disk. */
@CrashRig
class PowerCutTest {

  // A seed costs half a second; the journal alone, where most can go wrong, has many more.
  private static final int POWER_SEEDS = CrashTable.SCALE == 1 ? 12 : 20 * CrashTable.SCALE;
  private static final int KILL_SEEDS = CrashTable.SCALE == 1 ? 4 : 8 * CrashTable.SCALE;

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

  @Test
  void plantedAFactThatIsAppliedTwiceIsFound() throws Exception {
    CrashTable table = new CrashTable("planted");
    for (int seed = 1; seed <= 20 && table.violations().isEmpty(); seed++) {
      Path root = CrashDirectory.make();
      new LedgerSeed(seed, Sync.POWER, false, LedgerSeed.MACHINE, root, table)
          .planting(PowerCutTest::countAnswersTwice)
          .run();
      CrashDirectory.delete(root);
    }
    assertThat(table.violations())
        .anyMatch(what -> what.contains("the rows are not what the journal gives"));
  }

  /** What the settling of a turn leaves that is applied again, where nothing refuses it. */
  private static void countAnswersTwice(Path directory) {
    Ledgers.sql(directory, "UPDATE session SET committed_turns = committed_turns + 1");
  }

  private static CrashTable run(
      String part, int seeds, Sync sync, boolean power, String machineAfterwards) throws Exception {
    CrashTable table = new CrashTable(part);
    for (int seed = 1; seed <= seeds; seed++) {
      Path root = CrashDirectory.make();
      new LedgerSeed(seed, sync, power, machineAfterwards, root, table).run();
      CrashDirectory.delete(root);
    }
    return table;
  }
}
