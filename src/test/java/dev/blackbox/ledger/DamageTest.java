package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.ledger.LedgerRefusedException.Reason;
import dev.blackbox.turn.TurnOutcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files of a closed ledger that were cut, changed, replaced or taken away. */
@CrashRig
class DamageTest {

  private static final int ROUNDS = 8 * CrashTable.SCALE;
  private static final int TURNS = 6;

  private Path root = Path.of("");
  private Path state = Path.of("");
  private byte[] database = new byte[0];
  private byte[] journal = new byte[0];

  @BeforeEach
  void aClosedLedger() throws Exception {
    root = CrashDirectory.make();
    state = root.resolve("state");
    try (Ledger ledger = Ledgers.open(state)) {
      long session = Ledgers.session(ledger, "sess-1");
      for (int i = 0; i < TURNS; i++) {
        Ledgers.runTurn(ledger, session, "t-" + i);
      }
    }
    database = Files.readAllBytes(databaseFile());
    journal = Files.readAllBytes(segment());
  }

  @AfterEach
  void delete() throws IOException {
    CrashDirectory.delete(root);
  }

  private Path databaseFile() {
    return state.resolve(StateDirectory.DATABASE_FILE);
  }

  private Path segment() throws IOException {
    return Ledgers.segments(state).getFirst();
  }

  @Test
  void p11ADatabaseThatWasCutOrChangedAnywhereIsMadeAgainAndSaysSo() throws Exception {
    CrashTable table = new CrashTable("damaged databases");
    Random random = new Random(6);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] damaged = database.clone();
      switch (round % 4) {
        case 0 -> damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
        case 1 -> damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
        case 2 -> {
          int page = random.nextInt(damaged.length / 4096) * 4096;
          Arrays.fill(damaged, page, page + 4096, (byte) 0);
        }
        default -> random.nextBytes(damaged);
      }
      Path copy = copy("round-" + round, damaged, journal);
      long start = System.nanoTime();
      try (Ledger ledger = Ledgers.open(copy)) {
        table.recovered(Duration.ofNanos(System.nanoTime() - start));
        everythingIsThere(ledger).ifPresent(table::violation);
        if (ledger.putRight().filter(said -> said.contains("was made again")).isEmpty()) {
          table.violation("round " + round + " did not say so: " + ledger.putRight());
        }
      }
      assertThat(copy.resolve(StateDirectory.DAMAGED_FILE).toFile().exists())
          .isEqualTo(damaged.length > 0);
      table.point();
    }
    table.print();
    assertThat(table.violations()).isEmpty();
  }

  @Test
  void plantedADatabaseWithoutItsMarkAnswersWronglyAndIsFound() throws Exception {
    Path copy = copy("unmarked", database, journal);
    Ledgers.sql(copy, "UPDATE turn SET outputs = '[]' WHERE turn_id = 't-3'");
    Files.delete(copy.resolve(DatabaseMark.FILE_NAME));
    try (Ledger ledger = Ledgers.open(copy)) {
      assertThat(everythingIsThere(ledger)).isPresent();
      assertThat(ledger.reads().verify().problems()).isNotEmpty();
    }
  }

  @Test
  void p11FactsWhoseRowsAreThereAlreadyAreNotAppliedTwice() throws Exception {
    long facts;
    try (Ledger ledger = Ledgers.open(state)) {
      facts = ledger.reads().verify().lastSequence();
    }
    // As if the rows had reached the disk without the events that say so.
    Ledgers.sql(state, "DELETE FROM event WHERE sequence > " + (facts - 6));
    new DatabaseMark(JournalFiles.in(state))
        .write(
            new DatabaseMark.Left.Open(
                facts, LedgerConfig.Sync.POWER, Ledgers.BOOT.machineBootId()));
    try (Ledger ledger = Ledgers.open(state)) {
      assertThat(ledger.putRight())
          .hasValueSatisfying(why -> assertThat(why).contains("made again"));
      assertThat(everythingIsThere(ledger)).isEmpty();
      assertThat(ledger.reads().session(1).orElseThrow().committedTurns()).isEqualTo(TURNS);
    }
  }

  @Test
  void anOlderDatabaseAMissingOneAndAnEmptyOneCatchUp() throws Exception {
    Path older = root.resolve("older.mv.db");
    Files.copy(databaseFile(), older);
    try (Ledger ledger = Ledgers.open(state)) {
      Ledgers.runTurn(ledger, 1, "t-new");
    }
    for (String how : List.of("older", "missing", "empty")) {
      switch (how) {
        case "older" -> Files.write(databaseFile(), Files.readAllBytes(older));
        case "missing" -> Files.delete(databaseFile());
        default -> Files.write(databaseFile(), new byte[0]);
      }
      try (Ledger ledger = Ledgers.open(state)) {
        assertThat(ledger.reads().turn(Ledgers.key(1, "t-new"))).as(how).isPresent();
        assertThat(everythingIsThere(ledger)).isEmpty();
        assertThat(ledger.putRight()).as(how).isPresent();
      }
    }
  }

  @Test
  void aJournalThatWasCutOrChangedIsRefusedWithItsPlaceOrNothingIsLost() throws Exception {
    Random random = new Random(7);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] damaged =
          round % 2 == 0 ? Arrays.copyOf(journal, random.nextInt(journal.length)) : journal.clone();
      if (round % 2 == 1) {
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      }
      Path copy = copy("journal-" + round, database, damaged);
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThatThrownBy(() -> Ledgers.open(copy))
            .as("round %d", round)
            .isInstanceOfSatisfying(
                LedgerRefusedException.class,
                refused -> assertThat(refused.reason()).isEqualTo(Reason.DAMAGED))
            .hasMessageContaining(copy.toString())
            .hasMessageMatching("(?s).*(estore|ut ).*");
      }
      // Refused means untouched: what it was is enough again.
      Files.write(Ledgers.segments(copy).getFirst(), journal);
      try (Ledger ledger = Ledgers.open(copy)) {
        assertThat(everythingIsThere(ledger)).isEmpty();
      }
    }
  }

  @Test
  void aLostJournalIsNoNewLedger() throws Exception {
    Files.delete(segment());
    Files.delete(databaseFile());
    assertThatThrownBy(() -> Ledgers.open(state))
        .hasMessageContaining("has no journal")
        .hasMessageContaining("choose an empty directory");
  }

  @Test
  void directoriesAndLinksInThePlaceOfFilesAreRefusedInWords() throws Exception {
    Files.delete(databaseFile());
    Files.createDirectory(databaseFile());
    assertThatThrownBy(() -> Ledgers.open(state)).hasMessageContaining("is not a file");
    Files.delete(databaseFile());
    Files.createSymbolicLink(databaseFile(), root.resolve("nowhere"));
    assertThatThrownBy(() -> Ledgers.open(state)).hasMessageContaining("is not a file");
    Files.delete(databaseFile());

    Path elsewhere = Files.writeString(root.resolve("elsewhere"), "keep me");
    Path lock = state.resolve(StateDirectory.LOCK_FILE);
    Files.delete(lock);
    Files.createSymbolicLink(lock, elsewhere);
    assertThatThrownBy(() -> Ledgers.open(state)).isInstanceOf(LedgerRefusedException.class);
    assertThat(elsewhere).hasContent("keep me");
    Files.delete(lock);

    Path segment = segment();
    Files.delete(segment);
    Files.createDirectory(segment);
    assertThatThrownBy(() -> Ledgers.open(state))
        .isInstanceOf(LedgerRefusedException.class)
        .hasMessageContaining(segment.toString());
    Files.delete(segment);
    Files.write(segment, journal);
    // A lock file that was left means nothing; the lock does.
    Files.writeString(lock, "pid 1\n");
    try (Ledger ledger = Ledgers.open(state)) {
      assertThat(everythingIsThere(ledger)).isEmpty();
    }
  }

  @Test
  void aClockThatJumpsDoesNotMakeTimesGoBack() throws Exception {
    Instant[] now = {Instant.parse("2030-01-01T00:00:00Z")};
    InstantSource clock = () -> now[0];
    for (String jump :
        List.of("1999-01-01T00:00:00Z", "2031-06-01T00:00:00Z", "1970-01-01T00:00:01Z")) {
      try (Ledger ledger = Ledger.open(Ledgers.config(state), Ledgers.BOOT, clock)) {
        Ledgers.runTurn(ledger, 1, "at-" + jump.substring(0, 4));
        now[0] = Instant.parse(jump);
        Ledgers.runTurn(ledger, 1, "after-" + jump.substring(0, 4));
        assertThat(ledger.reads().verify().problems()).isEmpty();
        assertThat(ledger.reads().events(1, 10_000)).extracting(LedgerFacts.Event::at).isSorted();
      }
    }
  }

  private Path copy(String name, byte[] databaseBytes, byte[] journalBytes) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    files.put(StateDirectory.DATABASE_FILE, databaseBytes);
    files.put(segment().getFileName().toString(), journalBytes);
    files.put(DatabaseMark.FILE_NAME, Files.readAllBytes(state.resolve(DatabaseMark.FILE_NAME)));
    return CutDisk.materialize(files, root.resolve(name));
  }

  /** What is missing or other than it was. */
  private static java.util.Optional<String> everythingIsThere(Ledger ledger) {
    List<String> wrong = new ArrayList<>(ledger.reads().verify().problems());
    for (int i = 0; i < TURNS; i++) {
      TurnOutcome expected = Ledgers.committed("answer to t-" + i);
      if (ledger
          .reads()
          .turn(Ledgers.key(1, "t-" + i))
          .flatMap(turn -> turn.settlement())
          .filter(settled -> settled.outcome().equals(expected))
          .isEmpty()) {
        wrong.add("t-" + i);
      }
    }
    return wrong.isEmpty() ? java.util.Optional.empty() : java.util.Optional.of(wrong.toString());
  }
}
