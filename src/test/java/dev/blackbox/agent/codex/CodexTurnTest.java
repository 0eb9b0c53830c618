package dev.blackbox.agent.codex;

import static dev.blackbox.agent.AgentFixture.assertBroken;
import static dev.blackbox.agent.codex.CodexRig.ANSWER;
import static dev.blackbox.agent.codex.CodexRig.COMPLETED;
import static dev.blackbox.agent.codex.CodexRig.STARTED;
import static dev.blackbox.agent.codex.CodexRig.THREAD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.StandIn;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.Usage;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a turn is, by what Codex prints and how it ends. */
class CodexTurnTest {

  @TempDir Path directory;
  @TempDir Path programs;

  private CodexRig rig;

  @BeforeEach
  void open() throws Exception {
    rig = new CodexRig(directory, programs);
  }

  @AfterEach
  void nothingIsLeft() {
    rig.close();
  }

  @Test
  void aTurnIsTheWholeConversation() throws Exception {
    AgentResult result =
        run(
            StandIn.print(
                STARTED,
                "{\"type\":\"turn.started\"}",
                item("completed", "r", "\"type\":\"reasoning\",\"summary\":[\"x\",\"y\"]"),
                item("started", "a", command("ls", "", "null", "in_progress")),
                item("started", "b", command("false", "", "null", "in_progress")),
                item("completed", "b", command("false", "oh", "1", "failed")),
                item("completed", "a", command("ls", "a.txt", "0", "completed")),
                item("completed", "c", command("pwd", "/x", "0", "completed")),
                item(
                    "completed",
                    "d",
                    "\"type\":\"file_change\",\"changes\":[{\"path\":\"p\",\"kind\":\"add\"}],"
                        + "\"status\":\"completed\""),
                item("completed", "e", "\"type\":\"todo_list\",\"items\":[]"),
                item("completed", "f", "\"type\":\"error\",\"message\":\"harmless\""),
                ANSWER,
                COMPLETED));

    assertThat(result).isInstanceOf(AgentResult.Answered.class);
    List<Map<?, ?>> messages = messages(result);
    assertThat(messages.stream().<@Nullable Object>map(message -> message.get("role")))
        .containsExactly(
            "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool", "assistant");
    assertThat(messages.stream().<@Nullable Object>map(message -> message.get("content")))
        .containsExactly(null, "a.txt", "oh\n[exit code 1]", null, "/x", null, "", "done");
    assertThat(messages.getFirst().get("reasoning_content")).isEqualTo("x\ny");
    assertThat(messages.getFirst().get("tool_calls"))
        .isEqualTo(List.of(call("a", "ls"), call("b", "false")));
    assertThat(String.valueOf(messages.get(5).get("tool_calls")))
        .contains("file_change", "{\"changes\": [{\"path\": \"p\", \"kind\": \"add\"}]}");
    assertThat(result.work().usage()).isEqualTo(new Usage(107, 100, 7, 3, 4, 4));
    assertThat(result.work().backendSessionId()).isEqualTo(THREAD);
  }

  private static Map<String, Object> call(String id, String command) {
    return Map.of(
        "id",
        id,
        "type",
        "function",
        "function",
        Map.of("name", "command_execution", "arguments", "{\"command\": \"" + command + "\"}"));
  }

  @Test
  void textsOfOneStepAreJoined() throws Exception {
    AgentResult result =
        run(
            StandIn.print(
                STARTED,
                item("completed", "r", "\"type\":\"reasoning\",\"text\":\"thinking\""),
                item("completed", "m", "\"type\":\"agent_message\",\"text\":\"first\""),
                ANSWER,
                COMPLETED));

    assertThat(messages(result)).hasSize(1);
    assertThat(messages(result).getFirst().get("content")).isEqualTo("first\ndone");
    assertThat(messages(result).getFirst().get("reasoning_content")).isEqualTo("thinking");
  }

  @Test
  void callsOfOtherToolsKeepTheirNamesAndArguments() throws Exception {
    AgentResult result =
        run(
            StandIn.print(
                STARTED,
                item(
                    "completed",
                    "a",
                    "\"type\":\"mcp_tool_call\",\"server\":\"s\",\"tool\":\"t\",\"arguments\":"
                        + "{\"n\":1},\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}"),
                item("completed", "b", "\"type\":\"web_search\",\"query\":\"q\""),
                ANSWER,
                COMPLETED));

    assertThat(result.work().outputsJson())
        .contains("{\"name\":\"s__t\",\"arguments\":\"{\\\"n\\\": 1}\"}")
        .contains("\"content\":\"r\"")
        .contains("{\"name\":\"web_search\",\"arguments\":\"{\\\"query\\\": \\\"q\\\"}\"}");
  }

  @Test
  void aRunningTotalOfUsageIsTakenApart() throws Exception {
    rig.standIn.does(1, StandIn.print(STARTED, ANSWER, COMPLETED));
    rig.standIn.does(
        2,
        StandIn.print(STARTED, ANSWER, COMPLETED.replace(":100,", ":250,").replace(":7,", ":17,")));
    rig.standIn.does(3, StandIn.print(STARTED, ANSWER, COMPLETED));
    try (Agent agent = rig.start(Map.of())) {
      List<Usage> usages = new ArrayList<>();
      for (int turn = 1; turn <= 3; turn++) {
        usages.add(agent.run(rig.fixture.task("t" + turn, "go")).work().usage());
      }
      assertThat(usages)
          .containsExactly(
              new Usage(107, 100, 7, 3, 1, 0),
              new Usage(160, 150, 10, 0, 1, 0),
              new Usage(107, 100, 7, 3, 1, 0));
    }
  }

  @Test
  void theThreadIsToldAtOnce() throws Exception {
    rig.standIn.does(
        StandIn.print(STARTED)
            + "while [ ! -f told ]; do sleep 0.05; done\n"
            + StandIn.print(ANSWER, COMPLETED));
    try (Agent agent = rig.start(Map.of())) {
      Path told = directory.resolve("workspace/told");
      AgentTask task = new AgentTask(TurnId.parse("t1"), "go", id -> write(told, id), 0);

      assertThat(agent.run(task)).isInstanceOf(AgentResult.Answered.class);
      assertThat(told).hasContent(THREAD);
    }
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void aSessionThatCannotBeRecordedEndsTheRun() throws Exception {
    rig.standIn.does(StandIn.print(STARTED) + "exec sleep 300");
    try (Agent agent = rig.start(Map.of())) {
      AgentTask task =
          new AgentTask(
              TurnId.parse("t1"),
              "go",
              _ -> {
                throw new IllegalStateException("no ledger");
              },
              0);

      assertThatThrownBy(() -> agent.run(task)).hasMessage("no ledger");
      assertThat(rig.fixture.started).noneMatch(process -> process.isRunning());
    }
  }

  @Test
  void retriesAndNoiseDoNotFailATurn() throws Exception {
    AgentResult result =
        run(
            StandIn.print(
                "a banner",
                "[1,2]",
                STARTED,
                "{\"type\":\"error\",\"message\":\"Reconnecting... 1/2\"}",
                ANSWER,
                COMPLETED));

    assertThat(result).isInstanceOf(AgentResult.Answered.class);
    assertThat(result.work().traceJson()).contains("a banner", "Reconnecting");
  }

  @Test
  void aFailedTurnIsToldWithAllThatIsKnown() throws Exception {
    String failed = "{\"type\":\"turn.failed\",\"error\":{\"message\":\"no room\"}}";
    AgentResult result = run(StandIn.print(STARTED, ANSWER, failed) + "echo why >&2; exit 1");

    assertBroken(
        result,
        Kind.TRANSPORT,
        "codex exited with code 1; jsonl error: {\"error\":{\"message\":\"no room\"},\"type\":"
            + "\"turn.failed\"}; stderr tail: why; stdout tail: ");
    assertThat(messages(result)).hasSize(1);
    assertBroken(
        run(StandIn.print(STARTED, ANSWER, failed, COMPLETED)),
        Kind.TRANSPORT,
        "the turn failed: no room");
  }

  @Test
  void anExitWithoutAFinalEventIsAFailure() throws Exception {
    assertBroken(run(StandIn.print(STARTED, ANSWER)), Kind.PROTOCOL, "codex exited with code 0; ");
    assertBroken(
        run(StandIn.print("Please log in")),
        Kind.TRANSPORT,
        "invalid codex JSONL: Please log in; no turn.completed event");
  }

  @Test
  void anAnswerIsNeeded() throws Exception {
    assertBroken(
        run(StandIn.print(STARTED, COMPLETED)),
        Kind.PROTOCOL,
        "codex produced no assistant output");
  }

  @Test
  void aThreadIsNeeded() throws Exception {
    assertBroken(run(StandIn.print(ANSWER, COMPLETED)), Kind.PROTOCOL, "thread.started");
  }

  @Test
  void anExitCodeIsAFailureWhateverWasPrinted() throws Exception {
    assertBroken(
        run(StandIn.print(STARTED, ANSWER, COMPLETED) + "exit 3"),
        Kind.TRANSPORT,
        "codex exited with code 3");
  }

  @Test
  void aFinalEventWithoutAnExitIsTaken() throws Exception {
    AgentResult result = run(StandIn.print(STARTED, ANSWER, COMPLETED) + "exec sleep 300");

    assertThat(result).isInstanceOf(AgentResult.Answered.class);
    assertThat(result.work().traceJson()).contains("server_note");
  }

  @Test
  void afterACrashTheKnownThreadIsGoneOnWith() throws Exception {
    rig.standIn.does(StandIn.print(STARTED, ANSWER, COMPLETED));
    try (Agent agent = rig.start(Map.of(), Optional.empty(), Optional.of(THREAD))) {
      assertThat(agent.run(rig.fixture.task("t1", "go"))).isInstanceOf(AgentResult.Answered.class);
      assertThat(rig.standIn.arguments(1)).startsWith("exec", "resume", THREAD);
      assertThat(rig.fixture.backendSessions).contains(THREAD);
    }
  }

  @Test
  void anotherThreadEndsTheTurnAndBothIdsAreNamed() throws Exception {
    rig.standIn.does(StandIn.print(STARTED) + "exec sleep 300");
    try (Agent agent = rig.start(Map.of(), Optional.empty(), Optional.of("other"))) {
      assertBroken(
          agent.run(rig.fixture.task("t1", "go")),
          Kind.PROTOCOL,
          "codex began thread " + THREAD + " although it was told to go on with other");
    }
  }

  @Test
  void aStoppedFirstTurnIsGoneOnWith() throws Exception {
    rig.standIn
        .does(1, StandIn.print(STARTED, ANSWER) + "exec sleep 300")
        .does(2, StandIn.print(STARTED, ANSWER, COMPLETED));
    try (Agent agent = rig.start(Map.of())) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(rig.fixture.task("t1", "go")));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> rig.fixture.backendSessions.contains(THREAD));

      assertThat(agent.stop(Duration.ofSeconds(20))).isEqualTo(StopReport.STOPPED);

      AgentResult stopped = turn.get(10, TimeUnit.SECONDS);
      assertThat(stopped).isInstanceOf(AgentResult.Stopped.class);
      assertThat(messages(stopped)).hasSize(1);
      assertThat(stopped.work().backendSessionId()).isEqualTo(THREAD);
      assertThat(agent.run(rig.fixture.task("t2", "go"))).isInstanceOf(AgentResult.Answered.class);
      assertThat(rig.standIn.arguments(2)).startsWith("exec", "resume", THREAD);
    }
  }

  private AgentResult run(String commands) throws Exception {
    rig.standIn.does(commands);
    try (Agent agent = rig.start(Map.of())) {
      return agent.run(rig.fixture.task("t1", "go"));
    }
  }

  private static String item(String event, String id, String members) {
    return "{\"type\":\"item." + event + "\",\"item\":{\"id\":\"" + id + "\"," + members + "}}";
  }

  private static String command(String command, String output, String code, String status) {
    return "\"type\":\"command_execution\",\"command\":\""
        + command
        + "\",\"aggregated_output\":\""
        + output
        + "\",\"exit_code\":"
        + code
        + ",\"status\":\""
        + status
        + "\"";
  }

  private static List<Map<?, ?>> messages(AgentResult result) {
    List<Map<?, ?>> messages = new ArrayList<>();
    Json.array(result.work().outputsJson()).forEach(message -> messages.add((Map<?, ?>) message));
    return messages;
  }
}
