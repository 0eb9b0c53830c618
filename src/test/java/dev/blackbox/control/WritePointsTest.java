package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.control.WritePoints.Point;
import dev.blackbox.control.WritePoints.Told;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.CrashLedgers;
import dev.blackbox.ledger.CrashTable;
import dev.blackbox.ledger.CutDisk;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every write point: a server that ends before or after any write, run or answer has a successor
 * that keeps the promises. The checks are P1 to P3, P6, P7, P8 and P11 as code; P4 and P5 stand in
 * the ledger itself, which is checked by reading and replaying it.
 */
@Tag("crash")
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
        "turns and a replay",
        server -> {
          server.run("t1", "hello");
          server.submit("t2", "again");
          server.run("t1", "hello");
          server.settled("t2", "again");
        });
    scenarios.put(
        "three turns",
        server -> {
          server.run("t1", "hello");
          server.run("t2", "more");
          server.run("t3", "again");
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
          server.control().pause("weights", Optional.of(5.0));
          server.submit("t1", "hello");
          server.control().resume("weights", Optional.of("v2"));
          server.settled("t1", "hello");
        });
    scenarios.put(
        "command",
        server -> {
          server.command("echo hi");
          server.run("t1", "hello");
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
  void p1p2p3p6p7p8p11ASuccessorKeepsThePromisesAtEveryPoint() throws Exception {
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
    assertThat(table.points()).isGreaterThanOrEqualTo(POINTS_PER_SCENARIO * 8);
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
    Path root = CrashTable.directory();
    List<Point> points;
    try (WritePoints server = new WritePoints(root, seed, plant)) {
      points = server.points();
      server.register();
      scenario.run(server);
    }
    table.seed();
    for (int i = 0; i < points.size() && table.violations().isEmpty(); i++) {
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
    CrashTable.delete(root);
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
    CrashTable.delete(state);
    CutDisk.materialize(files, state);
    FakeBackend backend = new FakeBackend();
    long start = System.nanoTime();
    try (ControlRig rig =
        new ControlRig(
            root, backend, UnaryOperator.identity(), CrashLedgers.open(state, machine))) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> !rig.control.status().state().equals("initializing"));
      table.recovered(Duration.ofNanos(System.nanoTime() - start));
      point.told().forEach(told -> keepsWord(rig, told).ifPresent(w -> table.violation(where + w)));
      settleAll(rig, point);
      ran(point, backend).ifPresent(what -> table.violation(where + what));
      promises(rig).forEach(what -> table.violation(where + what));
    } catch (LedgerRefusedException | RuntimeException failure) {
      table.violation(where + ": " + failure);
    }
  }

  /** P1 and P4: what was told is there, and the same. */
  private static Optional<String> keepsWord(ControlRig rig, Told told) {
    Optional<TurnSnapshot> found = rig.ledger.reads().turn(told.key());
    if (found.isEmpty()) {
      return Optional.of(": P1, " + told.key() + " was accepted and is gone");
    }
    if (told.outcome().isPresent()
        && !found.get().settlement().map(end -> end.outcome()).equals(told.outcome())) {
      return Optional.of(": P4, " + told.key() + " ended otherwise than was told");
    }
    return Optional.empty();
  }

  /** P6: whatever was left ends, as itself or as unknown; P3: and is replayed from then on. */
  private static void settleAll(ControlRig rig, Point point) {
    for (Told told : point.told()) {
      String id = told.key().turnId().value();
      if (told.prompt().equals("block")
          && !rig.ledger.reads().turn(told.key()).orElseThrow().state().isSettled()) {
        rig.control.cancel(ControlRig.SESSION, id);
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> rig.ledger.reads().turn(told.key()).orElseThrow().state().isSettled());
      TurnSnapshot settled = rig.ledger.reads().turn(told.key()).orElseThrow();
      if (isBound(rig, told)) {
        Rollout.Submission again = rig.submit(id, told.prompt());
        assertThat(again.replay()).as("P3").isTrue();
        assertThat(again.turn().settlement()).as("P3").isEqualTo(settled.settlement());
      }
    }
  }

  private static boolean isBound(ControlRig rig, Told told) {
    try {
      return rig.control
          .turn(ControlRig.SESSION, told.key().turnId().value())
          .turn()
          .key()
          .equals(told.key());
    } catch (Problem ofAnOlderSession) {
      return false;
    }
  }

  /** P2: no prompt was run twice, by this server and its successor together. */
  private static Optional<String> ran(Point point, FakeBackend successor) {
    List<String> all = new ArrayList<>(point.runs());
    all.addAll(successor.runs);
    return all.stream()
        .filter(prompt -> Collections.frequency(all, prompt) > 1)
        .findFirst()
        .map(prompt -> ": P2, " + prompt + " was run twice");
  }

  private static List<String> promises(ControlRig rig) {
    List<String> broken = new ArrayList<>(rig.ledger.reads().verify().problems());
    if (!rig.ledger.reads().leftProcesses().isEmpty()) {
      broken.add(": P7, processes are left");
    }
    // The end of a call is noted, not waited for: it may be there a moment after its turn's.
    Set<TurnKey> open = openCalls(rig);
    long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
    while (!open.isEmpty() && System.nanoTime() < end) {
      LockSupport.parkNanos(10_000_000);
      open = openCalls(rig);
    }
    open.forEach(turn -> broken.add(": P8, a model call of " + turn + " is open"));
    return broken;
  }

  private static Set<TurnKey> openCalls(ControlRig rig) {
    Set<TurnKey> open = new HashSet<>();
    rig.ledger
        .reads()
        .forEachTurn(
            1,
            turn -> {
              if (rig.ledger.reads().calls(turn.key()).stream()
                  .anyMatch(call -> call.end().isEmpty())) {
                open.add(turn.key());
              }
            });
    return open;
  }
}
