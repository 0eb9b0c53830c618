package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.LedgerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bbs ledger backup}, {@code restore} and {@code repair}, as an operator calls them. */
class LedgerFilesCommandsTest {

  @TempDir Path temp;

  @Test
  void aBackupOfALedgerInUseIsRestoredRepairedAndWhole() throws Exception {
    Path state = temp.resolve("state");
    Path backup = temp.resolve("backup");
    try (LedgerInspection inUse = LedgerInspection.open(LedgerConfig.at(state))) {
      assertThat(ledger("backup", backup.toString(), "--state-dir", state.toString()))
          .isEqualTo(ExitCode.OK);
      assertThat(ledger("repair", "--state-dir", state.toString()))
          .isEqualTo(ExitCode.STATE_LOCKED);
      assertThat(inUse.reads().verify().problems()).isEmpty();
    }
    assertThat(ledger("restore", backup.toString(), "--state-dir", state.toString()))
        .as("a restore never replaces a ledger")
        .isEqualTo(ExitCode.NOT_WRITABLE);

    Path restored = temp.resolve("restored");
    assertThat(ledger("restore", backup.toString(), "--state-dir", restored.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(ledger("check", "--state-dir", restored.toString())).isEqualTo(ExitCode.OK);

    damage(restored);
    assertThat(ledger("backup", temp.resolve("b2").toString(), "--state-dir", restored.toString()))
        .isEqualTo(ExitCode.LEDGER_DAMAGED);
    assertThat(ledger("repair", "--state-dir", restored.toString())).isEqualTo(ExitCode.OK);
    assertThat(ledger("check", "--state-dir", restored.toString())).isEqualTo(ExitCode.OK);
    assertThat(ledger("backup", temp.resolve("b3").toString(), "--state-dir", restored.toString()))
        .isEqualTo(ExitCode.OK);
  }

  @Test
  void whatIsNoLedgerIsSaidSoAndNothingIsMade() throws Exception {
    Path nowhere = temp.resolve("nowhere");
    Path to = temp.resolve("to");
    assertThat(ledger("backup", to.toString(), "--state-dir", nowhere.toString()))
        .isEqualTo(ExitCode.LEDGER_DAMAGED);
    assertThat(ledger("restore", nowhere.toString(), "--state-dir", to.toString()))
        .isEqualTo(ExitCode.LEDGER_DAMAGED);
    assertThat(ledger("repair", "--state-dir", nowhere.toString()))
        .isEqualTo(ExitCode.LEDGER_DAMAGED);
    assertThat(ledger("backup", "--state-dir", nowhere.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(to).doesNotExist();
    assertThat(nowhere).doesNotExist();
  }

  private static void damage(Path state) throws IOException {
    try (Stream<Path> files = Files.list(state)) {
      Path first =
          files
              .filter(file -> file.getFileName().toString().startsWith("journal-"))
              .sorted()
              .findFirst()
              .orElseThrow();
      byte[] bytes = Files.readAllBytes(first);
      bytes[bytes.length / 2] ^= 1;
      Files.write(first, bytes);
    }
  }

  private static ExitCode ledger(String... arguments) {
    return Printed.by(arguments).code();
  }
}
