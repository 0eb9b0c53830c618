package dev.blackbox.agent.opencode;

import static dev.blackbox.agent.AgentFixture.assertBroken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.turn.Usage;
import dev.blackbox.wire.Json;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The adapter with a program that speaks opencode's interface and misbehaves on demand. */
class OpencodeAgentTest {

  private static final URI MODEL = URI.create("http://127.0.0.1:9/v1");

  @TempDir Path directory;
  @TempDir Path programs;

  private AgentFixture fixture;

  @BeforeEach
  void open() {
    fixture = new AgentFixture(directory);
  }

  @AfterEach
  void nothingIsLeft() {
    fixture.close();
  }

  @Test
  void theAnswerIsWhatTheHistoryGained() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      AgentResult first = agent.run(fixture.task("t1", "say hello"));
      AgentResult second = agent.run(fixture.task("t2", "count"));

      assertThat(first).isInstanceOf(AgentResult.Answered.class);
      assertThat(outputs(first)).isEqualTo("[hello]");
      assertThat(first.work().usage()).isEqualTo(new Usage(9, 5, 4, 0, 1, 0));
      assertThat(first.work().backendSessionId()).isEqualTo("ses_1");
      assertThat(outputs(second)).isEqualTo("[2]");
      assertThat(fixture.backendSessions).containsExactly("ses_1", "ses_1");
    }
  }

  @Test
  void aLongTurnIsReadPageByPage() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      agent.run(fixture.task("t1", "say before"));
      AgentResult many = agent.run(fixture.task("t2", "many 250"));

      assertThat(Json.array(many.work().outputsJson())).hasSize(250);
      assertThat(outputs(many)).startsWith("[line 0, line 1,").endsWith("line 249]");
    }
  }

  @Test
  void aLastMessageThatComesLateIsWaitedFor() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      assertThat(outputs(agent.run(fixture.task("t1", "late but whole")))).isEqualTo("[but whole]");
      assertThat(outputs(agent.run(fixture.task("t2", "say next")))).isEqualTo("[next]");
    }
  }

  @Test
  void failuresAreToldByKind() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      assertBroken(
          agent.run(fixture.task("t1", "fail")), Kind.TRANSPORT, "APIError: engine says no");
      assertBroken(agent.run(fixture.task("t2", "empty")), Kind.TRANSPORT, "no material outputs");
      assertBroken(
          agent.run(fixture.task("t3", "refuse")),
          Kind.TRANSPORT,
          "POST /session/ses_1/message returned 500");
      assertThat(outputs(agent.run(fixture.task("t4", "say fine")))).isEqualTo("[fine]");
      assertBroken(agent.run(fixture.task("t5", "garbage")), Kind.PROTOCOL, "not valid JSON");
    }
  }

  @Test
  void aDroppedConnectionEndsTheTurnInTheAgentToo() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      AgentResult dropped = agent.run(fixture.task("t1", "drop"));

      assertBroken(dropped, Kind.TRANSPORT, "POST /session/ses_1/message failed");
      assertThat(outputs(dropped)).isEqualTo("[partial]");
    }
  }

  @Test
  void aCrashIsAProcessFailure() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      assertBroken(
          agent.run(fixture.task("t1", "crash")), Kind.PROCESS, "opencode exited with code 42");
      assertThat(agent.healthy()).isFalse();
    }
  }

  @Test
  void stoppingEndsTheTurnAndWhatItStarted() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      CompletableFuture<AgentResult> turn = fixture.runInBackground(agent, "t1", "wait child");
      ProcessIdentity child = fixture.child();

      assertThat(agent.stop(Duration.ofSeconds(10))).isEqualTo(StopReport.STOPPED);

      assertThat(child.isRunning()).isFalse();
      AgentResult result = turn.get(10, TimeUnit.SECONDS);
      assertThat(result).isInstanceOf(AgentResult.Stopped.class);
      assertThat(outputs(result)).isEqualTo("[partial]");
      assertThat(outputs(agent.run(fixture.task("t2", "say on")))).isEqualTo("[on]");
      assertThat(agent.stop(Duration.ofSeconds(1))).isEqualTo(StopReport.NOTHING);
    }
  }

  @Test
  void anAgentThatIgnoresAStopIsReportedAndEndsWhenClosed() throws Exception {
    CompletableFuture<AgentResult> turn;
    ProcessIdentity child;
    try (Agent agent = start("normal", Optional.empty())) {
      turn = fixture.runInBackground(agent, "t1", "deaf child");
      child = fixture.child();
      assertThat(agent.healthy()).isTrue();

      StopReport report = agent.stop(Duration.ofMillis(600));

      assertThat(report.proved()).isFalse();
      assertThat(report.reason()).contains("has not ended the turn within 600 ms");
    }
    assertThat(turn.get(10, TimeUnit.SECONDS)).isInstanceOf(AgentResult.Broken.class);
    assertThat(child.isRunning()).isFalse();
  }

  @Test
  void aLaterStartGoesOnWithTheKnownSession() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      agent.run(fixture.task("t1", "say one"));
    }
    try (Agent agent = start("normal", Optional.of("ses_1"))) {
      AgentResult result = agent.run(fixture.task("t2", "count"));

      assertThat(outputs(result)).isEqualTo("[2]");
      assertThat(result.work().backendSessionId()).isEqualTo("ses_1");
    }
  }

  @Test
  void anUnknownSessionIsRefusedByName() {
    assertThatThrownBy(() -> start("normal", Optional.of("ses_7")))
        .isInstanceOf(AgentStartException.class)
        .hasMessageContaining("ses_7")
        .hasMessageContaining("sess-1");
  }

  @Test
  void aPromptIsNotSentIfTheSessionCannotBeRecorded() throws Exception {
    IllegalStateException full = new IllegalStateException("disk is full");
    try (Agent agent = start("normal", Optional.empty())) {
      AgentTask unrecorded =
          new AgentTask(
              TurnId.parse("t1"),
              "say hello",
              session -> {
                throw full;
              },
              0);

      assertThatThrownBy(() -> agent.run(unrecorded)).isSameAs(full);
      assertThat(outputs(agent.run(fixture.task("t2", "count")))).isEqualTo("[1]");
    }
  }

  @Test
  void anEarlyExitIsToldWithItsReason() {
    assertThatThrownBy(() -> start("exit", Optional.empty()))
        .isInstanceOf(AgentStartException.class)
        .hasMessageContaining("opencode exited with code 3")
        .hasMessageContaining("cannot start today");
  }

  @Test
  void whoIsNeverReadyIsEndedInTime() throws Exception {
    OpencodeBackend backend = backend("never");

    assertThatThrownBy(
            () ->
                backend
                    .plan(FakeProgram.OPTIONS)
                    .start(
                        fixture.slot(
                            MODEL, Optional.empty(), Optional.empty(), Duration.ofSeconds(3))))
        .isInstanceOf(AgentStartException.class)
        .hasMessageContaining("not ready within 3000 ms: it says that it is not healthy");
  }

  @Test
  void theEnvironmentIsByAllowList() throws Exception {
    try (Agent agent = start("normal", Optional.empty())) {
      String answer = outputs(agent.run(fixture.task("t1", "environment")));

      Map<String, Object> environment = Json.object(answer.substring(1, answer.length() - 1));
      assertThat(environment)
          .containsEntry("HOME", directory.resolve("home").toString())
          .containsEntry("XDG_STATE_HOME", directory.resolve("home/.local/state").toString())
          .containsEntry("BBS_MODEL_KEY", AgentFixture.MODEL_KEY)
          .containsEntry("OPENCODE_DISABLE_AUTOCOMPACT", "1")
          .containsEntry("OPENCODE_DISABLE_MODELS_FETCH", "1")
          .containsKeys("PATH", "OPENCODE_SERVER_PASSWORD", "BBS_PROCESS_MARKER")
          .doesNotContainKeys("SOMEBODYS_API_KEY", "OPENCODE_BIN", "http_proxy");
    }
  }

  private Agent start(String mode, Optional<String> known) throws Exception {
    return backend(mode)
        .plan(FakeProgram.OPTIONS)
        .start(fixture.slot(MODEL, Optional.empty(), known));
  }

  private OpencodeBackend backend(String mode) throws Exception {
    return new OpencodeBackend(
        Map.of(
            "OPENCODE_BIN",
            FakeProgram.write(programs, "1.18.33", mode).toString(),
            "PATH",
            "/usr/local/bin:/usr/bin:/bin",
            "SOMEBODYS_API_KEY",
            "secret",
            "http_proxy",
            "http://127.0.0.1:1"),
        fixture.processes);
  }

  private static String outputs(AgentResult result) {
    return Json.array(result.work().outputsJson()).stream()
        .map(message -> String.valueOf(((Map<?, ?>) message).get("content")))
        .toList()
        .toString();
  }
}
