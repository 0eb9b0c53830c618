package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rig cleans up after a run that failed, and fails a run that tried too little. */
class CrashDirectoryTest {

  @TempDir Path parent;

  @Test
  void whatARunLeftGoesAtTheNextOneAndWhatALiveOneUsesStays() throws Exception {
    Process dead = new ProcessBuilder("true").start();
    dead.waitFor();
    Path left = directory("bbs-crash-pid" + dead.pid() + "-1");
    Path used = directory("bbs-crash-pid" + ProcessHandle.current().pid() + "-1");
    Path anothers = directory("bbs-crash-1");

    CrashDirectory.removeLeft(parent);

    assertThat(left).doesNotExist();
    assertThat(used.resolve("state/ledger.mv.db")).exists();
    assertThat(anothers).exists();
  }

  @Test
  void aNewDirectoryIsOfThisProcess() throws Exception {
    Path made = CrashDirectory.make();
    assertThat(made.getFileName().toString())
        .startsWith("bbs-crash-pid" + ProcessHandle.current().pid() + "-");
    Files.writeString(made.resolve("file"), "x");
    CrashDirectory.delete(made);
    assertThat(made).doesNotExist();
  }

  @Test
  void aRunThatTriedTooLittleFails() {
    CrashTable.requireEnough(300, 300);
    assertThatThrownBy(() -> CrashTable.requireEnough(299, 300))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("only 299 points and seeds");
  }

  private Path directory(String name) throws Exception {
    Path state = Files.createDirectories(parent.resolve(name).resolve("state"));
    Files.writeString(state.resolve("ledger.mv.db"), "x");
    return parent.resolve(name);
  }
}
