package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Backup, restore and repair: of good files, of files that are being written, of damaged ones. */
@ExtendWith(QuietLog.class)
class LedgerFilesTest {

  @TempDir Path temp;

  @Test
  void p3ABackupThatIsRestoredHasTheSameRowsAndHistory() throws Exception {
    Path state = everyKindOfFact();
    Map<String, List<String>> rows = Ledgers.dump(state);

    LedgerFiles.Copied backup = LedgerFiles.copy(state, temp.resolve("backup"));
    Path restored = temp.resolve("restored");
    LedgerFiles.Copied copied = LedgerFiles.copy(temp.resolve("backup"), restored);

    assertThat(copied.lastHash()).isEqualTo(backup.lastHash());
    assertThat(copied.facts()).isEqualTo(rows.get("event").size());
    try (Stream<Path> files = Files.list(restored)) {
      for (Path file : files.toList()) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .isEqualTo("rw-------");
      }
    }
    try (Ledger ledger = Ledgers.open(restored)) {
      assertThat(ledger.putRight()).as("nothing is wrong with a copy").isEmpty();
      assertThat(RebuildTest.withoutLastBoot(Ledgers.dump(restored))).isEqualTo(rows);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void p1ABackupWhileItIsWrittenHasEverythingThatWasAcknowledgedBefore() throws Exception {
    Path state = temp.resolve("state");
    // Small segments, so that backups meet the turn to new ones.
    LedgerConfig config = new LedgerConfig(state, Sync.PROCESS, 64, 4096, Duration.ofDays(1), 2);
    AtomicInteger acknowledged = new AtomicInteger();
    AtomicInteger stopAfter = new AtomicInteger(Integer.MAX_VALUE);
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      long session = Ledgers.session(ledger, "sess-1");
      CompletableFuture<Void> writing =
          CompletableFuture.runAsync(
              () -> {
                for (int turn = 1; turn < stopAfter.get(); turn++) {
                  Ledgers.runTurn(ledger, session, "t-" + turn);
                  acknowledged.set(turn);
                }
              });
      for (int round = 0; round < 4; round++) {
        int before = acknowledged.get();
        Path backup = temp.resolve("backup-" + round);
        LedgerFiles.Copied copied = LedgerFiles.copy(state, backup);
        assertThat(ledger.reads().events(copied.facts(), 1).getFirst().hash())
            .isEqualTo(copied.lastHash());
        try (Ledger copy = Ledgers.open(backup)) {
          for (int turn = 1; turn <= before; turn++) {
            assertThat(
                    copy.reads().turn(Ledgers.key(session, "t-" + turn)).orElseThrow().settlement())
                .as("round %d, turn %d of %d", round, turn, before)
                .isPresent();
          }
        }
      }
      stopAfter.set(0);
      writing.join();
      assertThat(acknowledged).hasPositiveValue();
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aCopyIsRefusedWhereThereIsALedgerAndWhereThereIsNone() throws Exception {
    Path state = everyKindOfFact();
    assertThatThrownBy(() -> LedgerFiles.copy(state, state))
        .hasMessageContaining("has a ledger already");
    assertThatThrownBy(() -> LedgerFiles.copy(temp.resolve("nowhere"), temp.resolve("to")))
        .hasMessageContaining("is not there");
    Path empty = Files.createDirectory(temp.resolve("empty"));
    assertThatThrownBy(() -> LedgerFiles.copy(empty, temp.resolve("to")))
        .hasMessageContaining("is no ledger");
    try (Ledger ledger = Ledgers.open(state)) {
      assertThatThrownBy(() -> LedgerFiles.repair(state))
          .isInstanceOfSatisfying(
              LedgerRefusedException.class,
              refused -> assertThat(refused.reason()).isEqualTo(Reason.LOCKED));
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @Test
  void aDamagedJournalIsNotBackedUpAndLeavesNothingBehind() throws Exception {
    Path state = everyKindOfFact();
    flip(Ledgers.segments(state).getFirst());
    Path backup = temp.resolve("backup");
    assertThatThrownBy(() -> LedgerFiles.copy(state, backup))
        .isInstanceOf(LedgerRefusedException.class)
        .hasMessageContaining("at byte");
    assertThat(backup).doesNotExist();
  }

  @Test
  void plantedACopyThatWasCutShortIsNoLedger() throws Exception {
    Path state = everyKindOfFact();
    Path backup = temp.resolve("backup");
    LedgerFiles.Copied copied = LedgerFiles.copy(state, backup);
    // As a kill leaves it between the journal's batches.
    Path cut = Ledgers.journalOnly(backup, temp.resolve("cut"));
    new DatabaseMark(JournalFiles.in(cut))
        .write(new DatabaseMark.Left.Untrusted(copied.facts() + 1, "it was being copied"));
    for (int attempt = 0; attempt < 2; attempt++) {
      assertThatThrownBy(() -> Ledgers.open(cut)).hasMessageContaining("is lost");
    }
  }

  @Test
  void p11AJournalThatIsDamagedAnywhereIsMadeAgainFromTheDatabase() throws Exception {
    Path state = everyKindOfFact();
    Map<String, List<String>> rows = Ledgers.dump(state);
    byte[] database = Files.readAllBytes(state.resolve(StateDirectory.DATABASE_FILE));
    byte[] mark = Files.readAllBytes(state.resolve(DatabaseMark.FILE_NAME));
    List<Path> segments = Ledgers.segments(state);
    for (String how : List.of("flipped", "cut", "gone")) {
      Path damaged = Ledgers.journalOnly(state, temp.resolve(how));
      Files.write(damaged.resolve(StateDirectory.DATABASE_FILE), database);
      Files.write(damaged.resolve(DatabaseMark.FILE_NAME), mark);
      Path first = damaged.resolve(segments.getFirst().getFileName());
      switch (how) {
        case "flipped" -> flip(first);
        case "cut" -> cut(first);
        default -> Files.delete(first);
      }
      assertThat(LedgerFiles.repair(damaged))
          .as(how)
          .anyMatch(line -> line.contains("was made again from"))
          .anyMatch(line -> line.contains("is whole up to fact " + rows.get("event").size()));
      assertThat(Ledgers.dump(damaged)).as(how).isEqualTo(rows);
      if (!how.equals("gone")) {
        assertThat(damaged.resolve("journal-damaged-1").resolve(first.getFileName())).exists();
      }
      try (Ledger ledger = Ledgers.open(damaged)) {
        assertThat(ledger.reads().verify().problems()).as(how).isEmpty();
      }
    }
  }

  @Test
  void aRepairOfAGoodLedgerMakesTheSameRows() throws Exception {
    Path state = everyKindOfFact();
    Map<String, List<String>> rows = Ledgers.dump(state);
    assertThat(LedgerFiles.repair(state)).anyMatch(line -> line.contains("its operator asked"));
    assertThat(Ledgers.dump(state)).isEqualTo(rows);
    assertThat(state.resolve(StateDirectory.DAMAGED_FILE)).exists();
  }

  @Test
  void p1NoFactIsLeftOutWhereBothAreDamaged() throws Exception {
    Path state = everyKindOfFact();
    flip(Ledgers.segments(state).getFirst());
    Ledgers.sql(state, "DELETE FROM event WHERE sequence = 3");
    Map<Path, ByteBuffer> before = contents(state);
    assertThatThrownBy(() -> LedgerFiles.repair(state))
        .hasMessageContaining("at byte")
        .hasMessageContaining("the database is not whole either")
        .hasMessageContaining("Restore a backup");
    assertThat(contents(state)).isEqualTo(before);
  }

  @Test
  void p1FactsThatOnlyADamagedJournalHasAreNotLeftOut() throws Exception {
    Path state = temp.resolve("state");
    Path killed = temp.resolve("killed");
    try (Ledger ledger = Ledgers.open(state)) {
      long session = Ledgers.session(ledger, "sess-1");
      Ledgers.runTurn(ledger, session, "turn-early");
      Ledgers.sql(state, "CHECKPOINT SYNC");
      Files.createDirectory(killed);
      for (String name : List.of(StateDirectory.DATABASE_FILE, DatabaseMark.FILE_NAME)) {
        Files.copy(state.resolve(name), killed.resolve(name));
      }
      Ledgers.runTurn(ledger, session, "turn-late");
      Ledgers.journalOnly(state, killed);
    }
    flip(Ledgers.segments(killed).getFirst());
    assertThatThrownBy(() -> LedgerFiles.repair(killed))
        .hasMessageContaining("cannot be read")
        .hasMessageContaining("Nothing was changed");
  }

  /** A closed ledger with several segments. */
  private Path everyKindOfFact() throws LedgerRefusedException {
    Path state = temp.resolve("state");
    try (Ledger ledger = Ledgers.open(state)) {
      RebuildTest.firstBoot(ledger);
    }
    try (Ledger ledger = Ledgers.open(state)) {
      RebuildTest.secondBoot(ledger);
    }
    return state;
  }

  /** One bit, in the middle. */
  private static void flip(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
  }

  private static void cut(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length / 2));
  }

  private static Map<Path, ByteBuffer> contents(Path directory) throws IOException {
    Map<Path, ByteBuffer> contents = new java.util.TreeMap<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (!file.endsWith(StateDirectory.LOCK_FILE)) {
          contents.put(file, ByteBuffer.wrap(Files.readAllBytes(file)));
        }
      }
    }
    return contents;
  }
}
