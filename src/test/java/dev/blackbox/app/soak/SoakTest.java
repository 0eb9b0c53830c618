package dev.blackbox.app.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.CrashTable;
import dev.blackbox.ledger.CrashTablePrinter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A short soak of the real server, and soaks of servers and agents that break a promise: what a
 * soak that finds nothing is worth.
 */
@Timeout(600)
class SoakTest {

  private static final int SECONDS = Math.min(180, 12 * CrashTable.SCALE);

  /** Generous, because other builds may run on the same machine. */
  private static final Duration READY_WITHIN = Duration.ofMinutes(2);

  /** Left behind after a failure: the log says what happened. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path root;

  private SoakPlan plan(int seconds, long seed) {
    return SoakPlan.of(root.resolve("soak"), Duration.ofSeconds(seconds), seed)
        .withReadyWithin(READY_WITHIN);
  }

  private SoakReport run(SoakPlan plan) throws InterruptedException {
    SoakReport report;
    try (Soak soak = Soak.open(plan)) {
      report = soak.run();
    }
    System.out.println("soak, seed " + plan.seed());
    report.lines().forEach(System.out::println);
    assertThat(new MarkedProcesses(root.resolve("soak/agent.sh")).running())
        .as("processes after the end of the soak")
        .isEmpty();
    return report;
  }

  @Test
  @Tag("crash")
  @ExtendWith(CrashTablePrinter.class)
  void p1ToP11HoldUnderKills() throws Exception {
    SoakReport report = run(plan(SECONDS, 20_261_130));
    CrashTable table = new CrashTable("soak of the real server, " + SECONDS + " s");
    table.kills(report.kills().values().stream().mapToInt(Integer::intValue).sum());
    report.violation().ifPresent(table::violation);
    report.readyAgain().forEach(millis -> table.recovered(Duration.ofNanos((long) (millis * 1e6))));
    table.print();
    assertThat(report.violation()).isEmpty();
    assertThat(report.kills()).containsKey(Phase.FIRST_START);
    assertThat(report.ends()).isNotEmpty();
    assertThat(report.readyAgain().count()).isPositive();
  }

  @Test
  void aServerThatComesBackWithAnOlderLedgerIsFound() throws Exception {
    assertFound(plan(60, 2).withServer(ForgetfulServer.class));
  }

  @Test
  void anAgentThatRunsTwiceIsFound() throws Exception {
    String note = "printf '%s %s\\n' \"$BBS_TURN_ID\" \"$run\" >>'@RUNS@'\n";
    assertThat(SoakAgent.script()).contains(note);
    SoakReport report =
        assertFound(plan(60, 3).withAgent(SoakAgent.script().replace(note, note + note)));
    assertThat(report.violation().orElseThrow()).contains("was run 2 times");
  }

  @Test
  void aProcessThatNobodyEndsIsFound() throws Exception {
    // In a session of its own, nobody's child, and without the variables by which it would be
    // found.
    String leaving =
        "(env -i PATH=\"$PATH\" setsid bash -c 'exec -a \"$0\" sleep 600' \"$0\" >/dev/null 2>&1"
            + " &)\n";
    SoakReport report =
        assertFound(
            plan(60, 4)
                .withAgent(SoakAgent.script().replace("for word in", leaving + "for word in")));
    assertThat(report.violation().orElseThrow()).contains("(P7)");
  }

  private SoakReport assertFound(SoakPlan plan) throws Exception {
    SoakReport report = run(plan);
    assertThat(report.violation()).isPresent();
    assertThat(report.lines()).anyMatch(line -> line.matches(" *violations +1"));
    String log = Files.readString(report.kept().resolve("soak.log"));
    assertThat(log).contains("seed " + plan.seed(), "VIOLATION", "kill -9");
    assertThat(report.kept().resolve("state")).isDirectory();
    assertThat(report.kept().resolve("state.log")).isRegularFile();
    return report;
  }
}
