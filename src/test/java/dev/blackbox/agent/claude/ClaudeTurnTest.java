package dev.blackbox.agent.claude;

import static dev.blackbox.agent.AgentFixture.assertBroken;
import static dev.blackbox.agent.claude.ClaudeRig.ANSWER;
import static dev.blackbox.agent.claude.ClaudeRig.INIT;
import static dev.blackbox.agent.claude.ClaudeRig.RESULT;
import static dev.blackbox.agent.claude.ClaudeRig.SESSION;
import static org.assertj.core.api.Assertions.assertThat;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a turn is, by what Claude Code prints and how it ends. */
class ClaudeTurnTest {

  @TempDir Path directory;
  @TempDir Path programs;

  private ClaudeRig rig;

  @BeforeEach
  void open() throws Exception {
    rig = new ClaudeRig(directory, programs);
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
                INIT,
                "",
                message("m1", "{\"type\":\"thinking\",\"thinking\":\"hm\"}"),
                message("m1", "{\"type\":\"text\",\"text\":\"I look.\"}"),
                message("m1", call("c1", "{\"command\":\"ls\"}")),
                toolResult("c1", "\"a.txt\""),
                message("m1", call("c2", "{\"command\":\"pwd\"}")),
                toolResult("c2", "[{\"type\":\"text\",\"text\":\"/x\"},{\"type\":\"image\"}]"),
                "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go on\"}}",
                message("m2", "{\"type\":\"text\",\"text\":\"All done.\"}"),
                "{\"duration_api_ms\":1,\"type\":\"result\",\"subtype\":\"success\","
                    + "\"is_error\":false,\"num_turns\":2,\"result\":\"All done.\",\"usage\":"
                    + "{\"input_tokens\":30,\"cache_read_input_tokens\":5,\"output_tokens\":7,"
                    + "\"output_tokens_details\":{\"thinking_tokens\":3}}}"));

    assertThat(result).isInstanceOf(AgentResult.Answered.class);
    assertThat(result.work().outputsJson())
        .isEqualTo(
            "[{\"role\":\"assistant\",\"content\":\"I look.\",\"reasoning_content\":\"hm\","
                + "\"tool_calls\":["
                + "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"Bash\","
                + "\"arguments\":\"{\\\"command\\\": \\\"ls\\\"}\"}},"
                + "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"Bash\","
                + "\"arguments\":\"{\\\"command\\\": \\\"pwd\\\"}\"}}],"
                + "\"tool_call_id\":null,\"name\":null},"
                + "{\"role\":\"tool\",\"content\":\"a.txt\",\"reasoning_content\":null,"
                + "\"tool_calls\":null,\"tool_call_id\":\"c1\",\"name\":\"Bash\"},"
                + "{\"role\":\"tool\",\"content\":\"/x\\n{\\\"type\\\": \\\"image\\\"}\","
                + "\"reasoning_content\":null,\"tool_calls\":null,\"tool_call_id\":\"c2\","
                + "\"name\":\"Bash\"},"
                + "{\"role\":\"assistant\",\"content\":\"All done.\",\"reasoning_content\":null,"
                + "\"tool_calls\":null,\"tool_call_id\":null,\"name\":null}]");
    assertThat(result.work().usage()).isEqualTo(new Usage(42, 35, 7, 3, 2, 2));
    assertThat(result.work().backendSessionId()).isEqualTo(SESSION);
  }

  @Test
  void theTraceIsEveryEventInItsOrder() throws Exception {
    rig.standIn.does("echo banner; " + StandIn.print(INIT, "[1,2]", ANSWER, RESULT));
    try (Agent agent = rig.start(Map.of())) {
      AgentTask task = new AgentTask(TurnId.parse("t9"), "go", _ -> {}, 41);
      List<Object> trace = Json.array(agent.run(task).work().traceJson());

      assertThat(trace.stream().<Object>map(event -> ((Map<?, ?>) event).get("event_type")))
          .containsExactly("stdout", "system", "stdout", "assistant", "result");
      assertThat(trace.stream().<Object>map(event -> ((Map<?, ?>) event).get("seq")))
          .containsExactly(41, 42, 43, 44, 45);
      Map<?, ?> first = (Map<?, ?>) trace.getFirst();
      assertThat(first.get("turn_id")).isEqualTo("t9");
      assertThat(first.get("source")).isEqualTo("claude_code");
      assertThat(first.get("payload")).isEqualTo(Map.of("type", "stdout", "text", "banner"));
    }
  }

  @Test
  void withoutASumTheUsageOfEachMessageCountsOnce() throws Exception {
    String usage = ",\"usage\":{\"input_tokens\":10,\"output_tokens\":2}";
    AgentResult result =
        run(
            StandIn.print(
                INIT,
                withUsage("m1", "a", usage),
                withUsage("m1", "b", usage),
                withUsage("m2", "c", usage),
                RESULT.replace("done", "c")));

    assertThat(result.work().usage()).isEqualTo(new Usage(24, 20, 4, 0, 2, 0));
    assertThat(contents(result)).containsExactly("a\nb", "c");
  }

  private static String withUsage(String id, String text, String usage) {
    return "{\"type\":\"assistant\",\"message\":{\"id\":\""
        + id
        + "\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\""
        + text
        + "\"}]"
        + usage
        + "}}";
  }

  @Test
  void helpersAreNamedAndTheAnswerIsLast() throws Exception {
    String helper =
        message("m2", "{\"type\":\"text\",\"text\":\"helping\"}")
            .replace(
                "\"type\":\"assistant\"", "\"parent_tool_use_id\":\"c1\",\"type\":\"assistant\"");
    AgentResult result = run(StandIn.print(INIT, ANSWER, helper, RESULT));

    assertThat(contents(result)).containsExactly("done", "helping", "done");
    assertThat(result.work().outputsJson()).contains("\"name\":\"subagent:c1\"");
  }

  @Test
  void messagesThatTheProgramMadeUpAreNoOutputs() throws Exception {
    String synthetic =
        "{\"type\":\"assistant\",\"message\":{\"id\":\"x\",\"role\":\"assistant\",\"model\":"
            + "\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"API Error\"}]}}";

    assertThat(contents(run(StandIn.print(INIT, synthetic, ANSWER, RESULT))))
        .containsExactly("done");
  }

  @Test
  void ofSeveralResultsTheLastCounts() throws Exception {
    // a task in the background keeps the turn open, however long it is silent
    AgentResult result =
        run(
            StandIn.print(
                    INIT,
                    "{\"type\":\"system\",\"subtype\":\"task_started\",\"task_id\":\"b1\"}",
                    ANSWER,
                    RESULT.replace("done", "not yet"))
                + "sleep 1\n"
                + StandIn.print(
                    "{\"type\":\"system\",\"subtype\":\"task_notification\",\"task_id\":\"b1\"}",
                    message("m3", "{\"type\":\"text\",\"text\":\"now\"}"),
                    RESULT.replace("done", "now")));

    assertThat(contents(result)).containsExactly("done", "now");
    assertThat(result.work().traceJson()).doesNotContain("server_note");
  }

  @Test
  void aResultWithoutAnExitIsTaken() throws Exception {
    AgentResult result = run(StandIn.print(INIT, ANSWER, RESULT) + "exec sleep 300");

    assertThat(result).isInstanceOf(AgentResult.Answered.class);
    assertThat(result.work().traceJson()).contains("server_note", "after its final event");
  }

  @Test
  void anExitWithoutAResultIsAFailure() throws Exception {
    AgentResult result = run(StandIn.print(INIT, ANSWER) + "echo why >&2");

    assertBroken(result, Kind.PROTOCOL, "claude_code produced no assistant output");
    assertBroken(result, Kind.PROTOCOL, "stderr tail: why");
    assertThat(contents(result)).containsExactly("done");
  }

  @Test
  void aFailureIsToldWithAllThatIsKnown() throws Exception {
    String failed =
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":"
            + "\"API Error:  500\",\"session_id\":\"s\"}";
    AgentResult result =
        run(StandIn.print(INIT, ANSWER, failed) + "echo '401 Unauthorized' >&2; exit 1");

    assertBroken(
        result,
        Kind.TRANSPORT,
        "claude_code exited with code 1; stream-json error: result=API Error: 500;"
            + " stderr tail: 401 Unauthorized; stdout tail: ");
    assertBroken(result, Kind.TRANSPORT, "; check the gateway token");
    assertThat(contents(result)).containsExactly("done");
  }

  @Test
  void aLoginScreenIsAFailureWithItsWords() throws Exception {
    String login =
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":"
            + "\"Invalid API key · Please run /login\"}";
    assertBroken(run(StandIn.print(INIT, login) + "exit 1"), Kind.TRANSPORT, "Please run /login");
    assertBroken(
        run("echo 'Select login method:'; echo '1. Subscription'; exit 1"),
        Kind.TRANSPORT,
        "Select login method:");
  }

  /** Nobody is there to be asked: the tool fails, and the turn goes on. */
  @Test
  void aToolThatNeedsPermissionFailsAndTheTurnDoesNot() throws Exception {
    String denied =
        "{\"type\":\"system\",\"subtype\":\"permission_denied\",\"tool_name\":\"Bash\"}";
    String result =
        RESULT.replace(
            "\"is_error\"", "\"permission_denials\":[{\"tool_name\":\"Bash\"}],\"is_error\"");
    AgentResult answered = run(StandIn.print(INIT, denied, ANSWER, result));

    assertThat(answered).isInstanceOf(AgentResult.Answered.class);
    assertThat(answered.work().traceJson()).contains("permission_denied", "permission_denials");
  }

  @Test
  void aLineOf100MegabytesEndsTheRun() throws Exception {
    AgentResult result =
        run(
            StandIn.print(INIT, ANSWER)
                + "echo why >&2; head -c 100000000 /dev/zero | tr '\\0' x; exec sleep 300");

    assertBroken(result, Kind.TRANSPORT, "printed a line of more than 1048576 bytes");
    assertBroken(result, Kind.TRANSPORT, "stderr tail: why");
    assertThat(contents(result)).containsExactly("done");
  }

  @ParameterizedTest
  @CsvSource({
    "Error: When using --print --output-format=stream-json requires --verbose, pass --verbose",
    "--dangerously-skip-permissions cannot be used with root/sudo privileges, non-root",
    "set ANTHROPIC_API_KEY, gateway token",
  })
  void remediesAreNamed(String errors, String remedy) throws Exception {
    assertBroken(run("echo '" + errors + "' >&2; exit 1"), Kind.TRANSPORT, remedy);
  }

  @Test
  void anErrorWithExitZeroIsAFailure() throws Exception {
    assertBroken(
        run(StandIn.print(INIT, RESULT.replace("false", "true").replace("done", "refused"))),
        Kind.TRANSPORT,
        "claude_code reported an error: refused");
    assertBroken(
        run(StandIn.print(INIT, RESULT.replace("success", "error_during_execution"))),
        Kind.TRANSPORT,
        "reported an error");
  }

  @Test
  void theProgramsOwnLimitOfTurnsIsToldAsSuch() throws Exception {
    AgentResult result =
        run(
            StandIn.print(
                    INIT,
                    ANSWER,
                    "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true,"
                        + "\"errors\":[\"Reached maximum number of turns (20)\"]}")
                + "exit 1");

    assertThat(result)
        .isInstanceOfSatisfying(
            AgentResult.OutOfSteps.class,
            steps -> {
              assertThat(steps.stepsMax()).isEqualTo(20);
              assertThat(steps.message()).contains("max_turns of 20");
            });
    assertThat(contents(result)).containsExactly("done");
  }

  @Test
  void aProgramThatIsKilledIsToldByItsSignal() throws Exception {
    assertBroken(
        run(StandIn.print(INIT) + "kill -9 $$"), Kind.TRANSPORT, "claude_code exited with code -9");
  }

  @Test
  void anotherSessionEndsTheTurnAndBothIdsAreNamed() throws Exception {
    AgentResult result = run(StandIn.print(INIT.replace(SESSION, "other")) + "exec sleep 300");

    assertBroken(result, Kind.PROTOCOL, "began session other although it was told to use ");
    assertBroken(result, Kind.PROTOCOL, SESSION);
  }

  @Test
  void afterACrashTheKnownSessionIsGoneOnWith() throws Exception {
    String known = "11111111-2222-5333-8444-555555555555";
    rig.standIn.does(StandIn.print(INIT.replace(SESSION, known), ANSWER, RESULT));
    try (Agent agent = rig.start(Map.of(), Optional.empty(), Optional.of(known))) {
      AgentResult result = agent.run(rig.fixture.task("t1", "go"));

      assertThat(result).isInstanceOf(AgentResult.Answered.class);
      assertThat(rig.standIn.arguments(1)).endsWith("--resume", known);
      assertThat(rig.fixture.backendSessions).containsExactly(known);
    }
  }

  @Test
  void aLostHistoryIsAFailure() throws Exception {
    String lost = "echo 'No conversation found with session ID' >&2; exit 1";
    rig.standIn.does(1, StandIn.print(INIT, ANSWER, RESULT)).does(2, lost);
    try (Agent agent = rig.start(Map.of())) {
      agent.run(rig.fixture.task("t1", "go"));
      assertBroken(
          agent.run(rig.fixture.task("t2", "go")), Kind.TRANSPORT, "No conversation found");
      assertThat(rig.standIn.runs()).isEqualTo(2);
    }
  }

  @Test
  void aSessionThatExistsIsResumed() throws Exception {
    rig.standIn
        .does(1, "echo 'Error: Session ID is already in use.' >&2; exit 1")
        .does(2, StandIn.print(INIT, ANSWER, RESULT));
    try (Agent agent = rig.start(Map.of())) {
      assertThat(agent.run(rig.fixture.task("t1", "go"))).isInstanceOf(AgentResult.Answered.class);
      assertThat(rig.standIn.arguments(1)).endsWith("--session-id", SESSION);
      assertThat(rig.standIn.arguments(2)).endsWith("--resume", SESSION);
    }
  }

  @Test
  void afterACancelledFirstTurnTheSessionIsResumedIfItWasStored() throws Exception {
    rig.standIn
        .does(1, StandIn.print(INIT, ANSWER) + "touch up; exec sleep 300")
        .does(2, "echo 'No conversation found with session ID' >&2; exit 1")
        .does(3, StandIn.print(INIT, ANSWER, RESULT));
    try (Agent agent = rig.start(Map.of())) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(rig.fixture.task("t1", "go")));
      Path up = directory.resolve("workspace/up");
      await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(up));
      assertThat(agent.stop(Duration.ofSeconds(20))).isEqualTo(StopReport.STOPPED);
      AgentResult stopped = turn.get(10, TimeUnit.SECONDS);
      assertThat(stopped).isInstanceOf(AgentResult.Stopped.class);
      assertThat(contents(stopped)).containsExactly("done");

      assertThat(agent.run(rig.fixture.task("t2", "go"))).isInstanceOf(AgentResult.Answered.class);
      assertThat(rig.standIn.arguments(2)).endsWith("--resume", SESSION);
      assertThat(rig.standIn.arguments(3)).endsWith("--session-id", SESSION);
    }
  }

  @Test
  void hugeTextsAreCutInTheTraceOnly() throws Exception {
    AgentResult result =
        run(
            StandIn.print(INIT, message("m1", call("c1", "{}")))
                + "printf '%s' '"
                + toolResult("c1", "\"").replace("}]}}", "")
                + "'; head -c 300000 /dev/zero | tr '\\0' x; echo '\"}]}}'\n"
                + StandIn.print(ANSWER.replace("m1", "m2"), RESULT));

    assertThat(contents(result).get(1)).isEqualTo("x".repeat(300_000));
    assertThat(result.work().traceJson().length()).isLessThan(100_000);
    assertThat(result.work().traceJson()).contains("[… 234464 characters left out …]");
  }

  private AgentResult run(String commands) throws Exception {
    rig.standIn.does(commands);
    try (Agent agent = rig.start(Map.of())) {
      return agent.run(rig.fixture.task("t1", "go"));
    }
  }

  private static String message(String id, String block) {
    return "{\"type\":\"assistant\",\"message\":{\"id\":\""
        + id
        + "\",\"role\":\"assistant\",\"content\":["
        + block
        + "]}}";
  }

  private static String call(String id, String input) {
    return "{\"type\":\"tool_use\",\"id\":\""
        + id
        + "\",\"name\":\"Bash\",\"input\":"
        + input
        + "}";
  }

  private static String toolResult(String id, String content) {
    return "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":"
        + "\"tool_result\",\"tool_use_id\":\""
        + id
        + "\",\"content\":"
        + content
        + "}]}}";
  }

  private static List<String> contents(AgentResult result) {
    return Json.array(result.work().outputsJson()).stream()
        .map(message -> String.valueOf(((Map<?, ?>) message).get("content")))
        .toList();
  }
}
