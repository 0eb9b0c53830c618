package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * How long a ledger takes to be open and recovered after its process was killed at work, by how
 * many turns it has. {@code -Dcrash.turns=N} for another number than the million of the full run.
 */
@CrashRig
class RecoveryTimeTest {

  private static final int KILLS =
      Integer.getInteger("crash.kills", CrashTable.SCALE == 1 ? 1 : 10);

  @TempDir Path temp;

  static List<Integer> sizes() {
    return ManyTurns.sizes();
  }

  @ParameterizedTest
  @MethodSource("sizes")
  void p1ALedgerOfAnySizeIsThereAgainSoonAfterAKill(int turns) throws Exception {
    Path state = temp.resolve("state");
    long start = System.nanoTime();
    ManyTurns.make(state, turns);
    Duration made = Duration.ofNanos(System.nanoTime() - start);
    CrashTable table =
        new CrashTable(String.format(Locale.ROOT, "recovery after a kill, %,d turns", turns));
    for (int kill = 0; kill < KILLS; kill++) {
      List<String> acknowledged = ChildLedger.start(state, Sync.POWER, 1).killedAfter(50);
      table.kill();
      start = System.nanoTime();
      try (Ledger ledger = Ledgers.open(state)) {
        LedgerFacts.Recovered recovered = ledger.recover();
        table.recovered(Duration.ofNanos(System.nanoTime() - start));
        assertThat(ledger.putRight()).as("kill %d", kill).isEmpty();
        assertThat(recovered.factsApplied()).as("not made again").isLessThan(turns + 100_000L);
        assertThat(ledger.reads().turn(ManyTurns.last(turns)).orElseThrow().state())
            .isEqualTo(TurnState.COMMITTED);
        acknowledged.forEach(line -> KillTest.isThere(ledger, line));
      }
    }
    table.print();
    if (turns > 100_000) {
      System.out.printf(Locale.ROOT, "made of facts in %d s: %,d turns%n", made.toSeconds(), turns);
    }
  }
}
