package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Real processes, really killed. */
@CrashRig
class KillTest {

  @TempDir Path temp;

  @ParameterizedTest
  @EnumSource(Sync.class)
  void p1NothingAcknowledgedIsLostByKillMinus9(Sync sync) throws Exception {
    Path state = temp.resolve("state");
    Path loaded = temp.resolve("loaded");
    int kills = (sync == Sync.POWER ? 3 : 2) * Math.min(CrashTable.SCALE, 4);
    CrashTable table = new CrashTable("ledger, really killed, " + sync);
    for (int kill = 1; kill <= kills; kill++) {
      ChildLedger child = ChildLedger.start(state, sync, 4, "-Xlog:class+load:file=" + loaded);
      List<String> acknowledged = child.killedAfter(40 + 97 * kill);
      assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(40 + 97 * kill);
      table.kill();
      long start = System.nanoTime();
      try (Ledger ledger = Ledgers.open(state)) {
        LedgerFacts.Recovered recovered = ledger.recover();
        table.recovered(Duration.ofNanos(System.nanoTime() - start));
        assertThat(recovered.factsApplied()).as("kill %d", kill).isPositive();
        acknowledged.forEach(line -> isThere(ledger, line));
        assertThat(ledger.reads().verify().problems()).isEmpty();
      }
      String classes = Files.readString(loaded);
      assertThat(classes.contains("dev.blackbox.ledger.Schema ")).isTrue();
      assertThat(classes.contains("org.flywaydb.core.Flyway ")).as("Flyway was started").isFalse();
    }
    table.print();
  }

  static void isThere(Ledger ledger, String line) {
    String[] words = line.substring(0, line.length() - 1).split(" ", -1);
    long session = Long.parseLong(words[1]);
    TurnSnapshot turn =
        ledger.reads().turn(Ledgers.key(session, words[2])).orElseThrow(() -> missing(line));
    Set<TurnState> possible =
        switch (words[0]) {
          case "queued" -> Set.of(TurnState.QUEUED, TurnState.COMMITTED, TurnState.UNKNOWN);
          case "started" -> Set.of(TurnState.COMMITTED, TurnState.UNKNOWN);
          case "committed" -> Set.of(TurnState.COMMITTED);
          default -> throw new IllegalStateException(line);
        };
    assertThat(turn.state()).as(line).isIn(possible);
    if (turn.state() == TurnState.COMMITTED) {
      TurnOutcome expected = Ledgers.committed("answer to " + words[2]);
      assertThat(turn.settlement().orElseThrow().outcome()).isEqualTo(expected);
    }
  }

  private static AssertionError missing(String line) {
    return new AssertionError("acknowledged, but lost: " + line);
  }
}
