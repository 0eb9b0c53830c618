package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.DatabaseMark.Left;
import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A repair that is killed, at each step of it and at random moments, several times in a row; the
 * next one that is not killed puts the ledger right, and no fact is lost.
 */
@CrashRig
@Timeout(600)
class RepairKillTest {

  private static final int KILLS = 3 * CrashTable.SCALE;

  /** What a process that SIGKILL ended is said to have returned. */
  private static final int KILLED = 128 + 9;

  private static final int TURNS = 250;

  /** Turns that only the journal has. */
  private static final int LATE_TURNS = 40;

  @TempDir Path temp;

  private Map<String, List<String>> rows = Map.of();

  /**
   * A killed ledger with a damaged first segment, whose database does not have its newest facts:
   * neither of the two is enough by itself.
   */
  private Path damaged() throws Exception {
    Path state = temp.resolve("state");
    Path killed = Files.createDirectory(temp.resolve("killed"));
    LedgerConfig config = new LedgerConfig(state, Sync.PROCESS, 64, 40_000, Duration.ofDays(1), 2);
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      long session = Ledgers.session(ledger, "sess-1");
      for (int turn = 0; turn < TURNS; turn++) {
        Ledgers.runTurn(ledger, session, "t-" + turn);
      }
      Ledgers.sql(state, "CHECKPOINT SYNC");
      for (String name : List.of(StateDirectory.DATABASE_FILE, DatabaseMark.FILE_NAME)) {
        Files.copy(state.resolve(name), killed.resolve(name));
      }
      for (int turn = 0; turn < LATE_TURNS; turn++) {
        Ledgers.runTurn(ledger, session, "late-" + turn);
      }
      rows = Ledgers.dump(state);
      Ledgers.journalOnly(state, killed);
    }
    Path first = Ledgers.segments(killed).getFirst();
    byte[] bytes = Files.readAllBytes(first);
    bytes[bytes.length / 2] ^= 1;
    Files.write(first, bytes);
    assertThat(Ledgers.segments(killed)).hasSizeGreaterThan(3);
    return killed;
  }

  private static Path copy(Path from, Path to) throws IOException {
    Ledgers.journalOnly(from, to);
    for (String name : List.of(StateDirectory.DATABASE_FILE, DatabaseMark.FILE_NAME)) {
      Files.copy(from.resolve(name), to.resolve(name));
    }
    return to;
  }

  private void isWhole(Path state, String when) throws LedgerRefusedException {
    assertThat(Ledgers.dump(state)).as(when).isEqualTo(rows);
    try (Ledger ledger = Ledgers.open(state)) {
      assertThat(ledger.reads().verify().problems()).as(when).isEmpty();
      assertThat(ledger.reads().session(1).orElseThrow().committedTurns())
          .isEqualTo(TURNS + LATE_TURNS);
    }
  }

  @Test
  void p1ARepairThatEndedBetweenAnyTwoMovesIsFinishedByTheNext() throws Exception {
    Path damaged = damaged();
    List<Path> old = Ledgers.segments(damaged);
    Path repaired = copy(damaged, temp.resolve("repaired"));
    assertThat(LedgerFiles.repair(repaired)).anyMatch(line -> line.contains("was made again from"));
    isWhole(repaired, "repaired at once");
    // What the server wrote meanwhile is not a part of it.
    List<Path> remade =
        Ledgers.segments(repaired).stream()
            .filter(
                segment ->
                    SegmentHeader.firstSequence(segment.getFileName().toString()) <= lastFact())
            .toList();
    CrashTable table = new CrashTable("repairs, between two moves");
    for (int moves = 0; moves <= old.size() + remade.size(); moves++) {
      Path state = copy(damaged, temp.resolve("moves-" + moves));
      Path away = Files.createDirectory(state.resolve("journal-damaged-1"));
      Path waiting = Files.createDirectory(state.resolve("journal-remade"));
      for (int i = 0; i < Math.min(moves, old.size()); i++) {
        String name = old.get(i).getFileName().toString();
        Files.move(state.resolve(name), away.resolve(name));
      }
      for (int i = 0; i < remade.size(); i++) {
        boolean moved = i < moves - old.size();
        String name = remade.get(i).getFileName().toString();
        Files.copy(remade.get(i), (moved ? state : waiting).resolve(name));
      }
      new DatabaseMark(JournalFiles.in(state))
          .write(new Left.Untrusted(lastFact(), LedgerRepair.REPLACING));
      LedgerFiles.repair(state);
      isWhole(state, "after " + moves + " moves");
      table.point();
    }
    table.print();
  }

  private long lastFact() {
    return rows.getOrDefault("event", List.of()).size();
  }

  @Test
  void p1ARepairThatIsKilledAgainAndAgainIsDoneInTheEnd() throws Exception {
    Path state = damaged();
    CrashTable table = new CrashTable("repairs, really killed");
    Random random = new Random(4);
    for (int kill = 0; kill < KILLS; kill++) {
      Process repair =
          new ProcessBuilder(ChildLedger.command(List.of(), RepairKillTest.class, state.toString()))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (BufferedReader output = repair.inputReader()) {
        assertThat(output.readLine()).isEqualTo("begins");
        boolean ended = repair.waitFor(random.nextInt(1200), TimeUnit.MILLISECONDS);
        repair.toHandle().destroyForcibly();
        assertThat(repair.waitFor()).as(output.readLine()).isIn(0, KILLED);
        assertThat(ended && repair.exitValue() != 0).as("it fails by itself").isFalse();
      }
      table.kill();
    }
    LedgerFiles.repair(state);
    isWhole(state, "in the end");
    table.print();
  }

  /** The process that is killed. */
  public static void main(String[] arguments) throws LedgerRefusedException {
    System.out.println("begins");
    LedgerFiles.repair(Path.of(arguments[0])).forEach(System.out::println);
  }
}
