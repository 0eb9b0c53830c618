package dev.blackbox.app;

import dev.blackbox.kernel.Closer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * The four real agents, each through the same rows: turns, crashes, faults of the engine, budgets.
 * Fills a table, prints it, and writes it to {@code target/agent-matrix.md}. {@code
 * -Dmatrix.agents=codex,opencode} runs some agents only, {@code -Dmatrix.rows=<pattern>} the rows
 * whose name has the pattern.
 */
@Tag("agents")
class AgentMatrixTest {

  private static final AgentTable TABLE = new AgentTable();

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path root;

  private final Closer closer = new Closer();

  /** A row: what is done, and what the table says of it. */
  private interface Row {
    String run() throws Exception;
  }

  @AfterEach
  void endAll() {
    closer.close();
  }

  @AfterAll
  static void printTable() throws Exception {
    System.out.println("\n" + TABLE.markdown());
    TABLE.write(Path.of("target/agent-matrix.md"));
  }

  @TestFactory
  Stream<DynamicContainer> matrix() {
    List<String> chosen = List.of(System.getProperty("matrix.agents", "").split(","));
    return Arrays.stream(AgentProgram.values())
        .filter(agent -> chosen.equals(List.of("")) || chosen.contains(agent.type()))
        .map(agent -> DynamicContainer.dynamicContainer(agent.type(), rows(agent)));
  }

  private Stream<DynamicTest> rows(AgentProgram agent) {
    AgentStage stage = new AgentStage(agent, root.resolve(agent.type()));
    closer.own(stage);
    AgentTurnRows turns = new AgentTurnRows(stage);
    AgentFaultRows faults = new AgentFaultRows(stage);
    AgentCrashRows crashes = new AgentCrashRows(stage);
    Pattern chosen = Pattern.compile(System.getProperty("matrix.rows", ""));
    return Stream.of(
            row(
                agent,
                "Two turns that change files, `kill -9` of the server, a third turn",
                turns::context),
            row(agent, "Engine: 500 once", faults::errorOnce),
            row(agent, "Engine: 429 with `Retry-After: 1` once", faults::busyOnce),
            row(
                agent,
                "20 turns in a row with a tool call each: growth from the first to the last",
                turns::twenty),
            row(agent, "Cancel in the middle of `sleep 300`", crashes::cancel),
            row(agent, "The registration after a cancel", crashes::registrationAfterCancel),
            row(agent, "Engine: stream cut within a tool call, once", faults::cutOnce),
            row(agent, "Engine: stall within an answer, once", faults::stallOnce),
            row(agent, "Engine: context overflow in mid-turn", faults::overflow),
            row(agent, "Engine: stream cut every time", faults::cutAlways),
            row(agent, "Step budget", faults::stepBudget),
            row(agent, "Engine: preemption in mid-turn", faults::preemption),
            row(agent, "`kill -9` of the agent in mid-turn", crashes::agentKilled),
            row(agent, "`kill -9` of the server in mid-turn (P1 to P8)", crashes::serverKilled),
            row(agent, "Usage and `X-Turn-Id` of all these turns", turns::records))
        .filter(row -> chosen.matcher(row.getDisplayName()).find());
  }

  private static DynamicTest row(AgentProgram agent, String name, Row row) {
    return DynamicTest.dynamicTest(
        name,
        () -> {
          TABLE.version(agent, agent.version());
          TABLE.tell(name, agent, "**failed**");
          long start = System.nanoTime();
          String told = row.run();
          TABLE.tell(name, agent, told);
          System.out.printf(
              "%s, %s: %s (%.1f s)%n", agent.type(), name, told, (System.nanoTime() - start) / 1e9);
        });
  }
}
