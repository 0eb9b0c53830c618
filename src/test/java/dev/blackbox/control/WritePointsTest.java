package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.control.WritePoints.Point;
import dev.blackbox.ledger.CrashDirectory;
import dev.blackbox.ledger.CrashLedgers;
import dev.blackbox.ledger.CrashRig;
import dev.blackbox.ledger.CrashTable;
import dev.blackbox.ledger.CutDisk;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.CommandSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Every write point: a server that ends before or after any write, run or answer has a successor
 * that keeps the {@link Promises}.
 */
@CrashRig
class WritePointsTest {

  /** Points of a scenario that every build looks at; the full run looks at all. */
  private static final int POINTS_PER_SCENARIO = 5;

  private static final int ROUNDS = Math.max(1, CrashTable.SCALE / 10);

  private interface Scenario {
    void run(WritePoints server) throws InterruptedException;
  }

  private static Map<String, Scenario> scenarios() {
    Map<String, Scenario> scenarios = new LinkedHashMap<>();
    scenarios.put(
        "turns, waited for and not, and a replay",
        server -> {
          server.run("t1", "hello");
          server.submit("t2", "again");
          server.run("t1", "hello");
          server.settled("t2", "again");
        });
    scenarios.put("a model call with a retry", server -> server.run("t1", "call"));
    scenarios.put("a stream that is cut", server -> server.run("t1", "cut"));
    scenarios.put(
        "as many turns as may be",
        server -> {
          server.run("t1", "hello");
          server.run("t2", "more");
          server.run("t3", "again");
          server.attempt(() -> server.run("t4", "one too many"));
        });
    scenarios.put(
        "cancel",
        server -> {
          server.submit("t1", "block");
          server.working();
          server.control().cancel(ControlRig.SESSION, "t1");
          server.settled("t1", "block");
          server.run("t2", "more");
        });
    addEnds(scenarios);
    return scenarios;
  }

  private static void addEnds(Map<String, Scenario> scenarios) {
    scenarios.put(
        "abort and rebind",
        server -> {
          server.submit("t1", "block");
          server.working();
          server.control().abort(ControlRig.SESSION);
          server.settled("t1", "block");
          server.register();
          server.run("t2", "in the new session");
        });
    scenarios.put(
        "pause",
        server -> {
          server.pause();
          server.submit("t1", "hello");
          server.resume();
          server.settled("t1", "hello");
        });
    scenarios.put(
        "commands, waited for and not",
        server -> {
          server.ended(server.execute("c1"));
          CommandSnapshot queued = server.execute("c2");
          server.run("t1", "hello");
          server.ended(queued);
        });
    scenarios.put(
        "a broken agent",
        server -> {
          server.run("t1", "broken");
          server.attempt(() -> server.run("t2", "refused"));
        });
    scenarios.put(
        "shutdown in a turn",
        server -> {
          server.submit("t1", "block");
          server.working();
        });
  }

  @Test
  void p1ToP11ASuccessorKeepsThePromisesAtEveryPoint() throws Exception {
    CrashTable table = new CrashTable("write points");
    for (int round = 1; round <= ROUNDS; round++) {
      for (Map.Entry<String, Scenario> scenario : scenarios().entrySet()) {
        play(
            scenario.getKey(),
            scenario.getValue(),
            round,
            UnaryOperator.identity(),
            CrashTable.SCALE > 1,
            table);
      }
    }
    table.print();
    assertThat(table.violations()).isEmpty();
    assertThat(table.points()).isGreaterThanOrEqualTo(POINTS_PER_SCENARIO * scenarios().size());
  }

  @Test
  void plantedAnswersBeforeTheForceAreFound() throws Exception {
    CrashTable table = new CrashTable("planted");
    UnaryOperator<CutDisk> liar =
        disk -> {
          disk.lie(CutDisk.Operation.FORCE);
          return disk;
        };
    play("liar", server -> server.run("t1", "hello"), 1, liar, true, table);
    assertThat(table.violations()).isNotEmpty();
  }

  private static void play(
      String name,
      Scenario scenario,
      long seed,
      UnaryOperator<CutDisk> plant,
      boolean all,
      CrashTable table)
      throws Exception {
    Path root = CrashDirectory.make();
    List<Point> points;
    // The model outlives the server: successors ask it too.
    try (FakeModelCall model = new FakeModelCall()) {
      try (WritePoints server = new WritePoints(root, seed, plant, model)) {
        points = server.points();
        server.register();
        scenario.run(server);
      }
      table.seed();
      checkAll(name, points, all, root, table);
    }
    CrashDirectory.delete(root);
  }

  private static void checkAll(
      String name, List<Point> points, boolean all, Path root, CrashTable table)
      throws IOException {
    // The last ones first: there clients know most, so that a broken promise is found soonest.
    for (int i = points.size() - 1; i >= 0 && table.violations().isEmpty(); i--) {
      if (all || isChosen(i, points.size())) {
        Point point = points.get(i);
        boolean cut = all || i % 2 == 0;
        boolean killed = all || i % 2 == 1;
        String where = name + ", " + point.name();
        if (killed) {
          check(where + ", killed", point, point.killed(), WritePoints.MACHINE, root, table);
        }
        if (cut) {
          check(where + ", no power", point, point.cut(), "machine-2", root, table);
        }
      }
    }
  }

  private static boolean isChosen(int point, int count) {
    return point * POINTS_PER_SCENARIO / count != (point + 1) * POINTS_PER_SCENARIO / count;
  }

  private static void check(
      String where,
      Point point,
      Map<String, byte[]> files,
      String machine,
      Path root,
      CrashTable table)
      throws IOException {
    table.point();
    Path state = root.resolve("state");
    CrashDirectory.delete(state);
    CutDisk.materialize(files, state);
    Path commands = root.resolve(WritePoints.COMMANDS);
    Files.write(commands, point.known().ranCommands());
    long start = System.nanoTime();
    try (ControlRig rig =
        new ControlRig(
            root, new FakeBackend(), WritePoints::bounded, CrashLedgers.open(state, machine))) {
      Promises.until("the start", () -> !rig.control.status().state().equals("initializing"));
      table.recovered(Duration.ofNanos(System.nanoTime() - start));
      Promises.broken(rig, commands, point.known())
          .forEach(what -> table.violation(where + ": " + what));
    } catch (LedgerRefusedException | RuntimeException failure) {
      table.violation(where + ": " + failure);
    }
  }
}
