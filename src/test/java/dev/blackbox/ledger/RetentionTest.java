package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a budget does to the ledger's files, and what is said of it. */
class RetentionTest {

  @TempDir Path temp;

  @Test
  void trimmingBeginsBelowTheBudgetAndGoesOnWhileTheFilesAreAboveIt() {
    Retention retention = new Retention(1000, Duration.ZERO);
    assertThat(retention.bytesWanted(900)).isEqualTo(800);
    assertThat(retention.bytesWanted(1000)).isEqualTo(800);
    assertThat(retention.bytesWanted(1001)).isEqualTo(600);
  }

  @Test
  void segmentsAreAsSmallAsASmallBudgetNeeds() {
    LedgerConfig config = LedgerConfig.at(temp);
    assertThat(config.segmentBytes()).isEqualTo(8 << 20);
    assertThat(budget(config, 1 << 30).segmentBytes()).isEqualTo(8 << 20);
    assertThat(budget(config, 32 << 20).segmentBytes()).isEqualTo(1 << 20);
    assertThat(budget(config, 1).segmentBytes()).isEqualTo(64 << 10);
  }

  private static LedgerConfig budget(LedgerConfig config, long bytes) {
    return config.keeping(new Retention(bytes, Duration.ZERO));
  }

  /** P10: with the default size of segments nothing would be erased before 8 MB of facts. */
  @Test
  void p10ASmallBudgetIsKeptToByWhatIsInUse() throws Exception {
    long budget = 2 << 20;
    LedgerConfig config = budget(LedgerConfig.at(temp), budget);
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      for (int number = 1; number <= 24; number++) {
        long session = Ledgers.session(ledger, "sess-" + number);
        for (int turn = 0; turn < 4; turn++) {
          String id = "t-" + turn;
          ledger.admit(Ledgers.admit(session, id, BudgetBench.text(number * 4L + turn, 48_000)));
          ledger.start(Ledgers.key(session, id));
          ledger.settle(Ledgers.key(session, id), Ledgers.committed("done"));
        }
        ledger.abort(session, "done");
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                LedgerFacts.DiskUse use = ledger.reads().diskUse();
                assertThat(use.sessionsTrimmed()).as("%s", use).isPositive();
                assertThat(use.bytesInUse()).as("%s", use).isLessThanOrEqualTo(budget);
                assertThat(use.bytesMax()).isEqualTo(budget);
                assertThat(use.bytes()).isGreaterThanOrEqualTo(use.bytesInUse());
              });
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }
}
