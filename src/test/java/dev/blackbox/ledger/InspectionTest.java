package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ledger can be looked at without leaving a trace in it. */
class InspectionTest {

  private static final String MACHINE = "machine-1";

  @TempDir private Path directory;

  @Test
  void aLookAddsNothingToTheHistory() throws Exception {
    boot(1);
    List<LedgerFacts.Event> before = events();
    assertThat(before)
        .extracting(LedgerFacts.Event::type)
        .containsExactly("boot_started", "boot_ended");
    assertThat(events()).isEqualTo(before);
    boot(2);
  }

  @Test
  void aDirectoryWithoutALedgerHasNoHistoryAndCanStillBegin() throws Exception {
    assertThat(events()).isEmpty();
    boot(1);
  }

  @Test
  void itIsRefusedWhileAServerRuns() throws Exception {
    try (Ledger _ = open()) {
      assertThatExceptionOfType(LedgerRefusedException.class)
          .isThrownBy(this::events)
          .satisfies(
              refused ->
                  assertThat(refused.reason()).isEqualTo(LedgerRefusedException.Reason.LOCKED));
    }
  }

  private Ledger open() throws LedgerRefusedException {
    return Ledger.open(
        LedgerConfig.at(directory),
        new LedgerFacts.BootStarting("test", 1, MACHINE),
        InstantSource.system());
  }

  private void boot(long number) throws LedgerRefusedException {
    try (Ledger ledger = open()) {
      assertThat(ledger.boot()).isEqualTo(number);
    }
  }

  private List<LedgerFacts.Event> events() throws LedgerRefusedException {
    try (Ledger.Inspection ledger =
        Ledger.inspect(LedgerConfig.at(directory), MACHINE, InstantSource.system())) {
      assertThat(ledger.reads().verify().problems()).isEmpty();
      return ledger.reads().events(1, 100);
    }
  }
}
