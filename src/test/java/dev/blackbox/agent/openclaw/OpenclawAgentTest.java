package dev.blackbox.agent.openclaw;

import static dev.blackbox.agent.AgentFixture.assertBroken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.turn.Usage;
import dev.blackbox.wire.Json;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The adapter with a program that speaks the gateway's interface and misbehaves on demand. */
class OpenclawAgentTest {

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
  void theOutputsAreTheWholeConversationOfTheTurn() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      AgentResult first = agent.run(fixture.task("t1", "tool It is done."));
      AgentResult second = agent.run(fixture.task("t2", "say next"));

      assertThat(first).isInstanceOf(AgentResult.Answered.class);
      assertThat(Json.array(first.work().outputsJson()).stream().map(OpenclawAgentTest::shape))
          .containsExactly(
              "assistant: I will. (A tool, then.) c1 exec {\"cmd\": \"ls\"}",
              "tool: made.txt",
              "assistant: It is done.");
      assertThat(first.work().usage()).isEqualTo(new Usage(22, 14, 8, 0, 2, 1));
      assertThat(first.work().traceJson()).contains("\"chat_completion\"", "\"run\"", "\"end\"");
      assertThat(outputs(second)).isEqualTo("[next]");
      assertThat(fixture.backendSessions).containsExactly("bbs:inst-1:sess-1", "bbs:inst-1:sess-1");
      assertThat(directory.resolve("run/openclaw.turn")).doesNotExist();
    }
  }

  @Test
  void theCallIsThatOfTheReference() throws Exception {
    Map<String, Object> request = Map.of("max_tokens", 7, "temperature", 0.5, "top_p", "0.9");
    try (Agent agent = start(Map.of("agent_id", "coder", "request", request), Optional.empty())) {
      String body = outputs(agent.run(fixture.task("t1", "body --help")));

      assertThat(Json.object(body.substring(1, body.length() - 1)))
          .containsEntry("model", "openclaw/coder")
          .containsEntry("user", "bbs:inst-1:sess-1")
          .containsEntry("stream", false)
          .containsEntry("max_tokens", 7)
          .containsEntry("top_p", 0.9);
      assertThat(outputs(agent.run(fixture.task("t2", "headers"))))
          .isEqualTo("[[bbs:inst-1:sess-1]]");
    }
  }

  @Test
  void failuresAreToldByKindWithTheReasonThatTheGatewayHides() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      AgentResult overflow = agent.run(fixture.task("t1", "overflow"));
      assertBroken(overflow, Kind.TRANSPORT, "with 500");
      assertBroken(overflow, Kind.TRANSPORT, "maximum context length is 100 tokens");
      assertBroken(agent.run(fixture.task("t2", "nochoices")), Kind.PROTOCOL, "no choices");
      assertBroken(agent.run(fixture.task("t3", "say \0")), Kind.PROTOCOL, "NUL character, at 4");
      assertThat(outputs(agent.run(fixture.task("t4", "say fine")))).isEqualTo("[fine]");
      assertBroken(
          agent.run(fixture.task("t5", "crash")), Kind.PROCESS, "openclaw exited with code 42");
      assertThat(agent.healthy()).isFalse();
    }
  }

  @Test
  void stoppingEndsTheTurnAndWhatItStarted() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      CompletableFuture<AgentResult> turn = fixture.runInBackground(agent, "t1", "wait child");
      ProcessIdentity child = fixture.child();

      assertThat(agent.stop(Duration.ofSeconds(20))).isEqualTo(StopReport.STOPPED);

      assertThat(child.isRunning()).isFalse();
      AgentResult result = turn.get(20, TimeUnit.SECONDS);
      assertThat(result).isInstanceOf(AgentResult.Stopped.class);
      assertThat(outputs(result)).isEqualTo("[partial]");
      assertThat(outputs(agent.run(fixture.task("t2", "say on")))).isEqualTo("[on]");
      assertThat(agent.stop(Duration.ofSeconds(1))).isEqualTo(StopReport.NOTHING);
    }
  }

  @Test
  void aRunThatIsNotSeenToEndIsReported() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      CompletableFuture<AgentResult> turn = fixture.runInBackground(agent, "t1", "deaf child");
      ProcessIdentity child = fixture.child();

      StopReport report = agent.stop(Duration.ofSeconds(30));

      assertThat(report.proved()).isFalse();
      assertThat(report.reason()).contains("does not say that its run has ended");
      assertThat(child.isRunning()).isFalse();
      assertThat(turn.get(20, TimeUnit.SECONDS)).isInstanceOf(AgentResult.Stopped.class);
    }
  }

  @Test
  void anotherConversationThanTheExpectedOneIsRefusedWithBothIds() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      agent.run(fixture.task("t1", "say one"));
    }
    Files.createDirectories(directory.resolve("home/.openclaw/agents"));
    try (Agent agent = start(Map.of(), Optional.of("bbs:inst-1:sess-1"))) {
      assertThat(outputs(agent.run(fixture.task("t2", "say two")))).isEqualTo("[two]");
      AgentResult other = agent.run(fixture.task("t3", "another"));
      assertBroken(other, Kind.PROTOCOL, "conversation-2 instead of conversation-1");
    }
  }

  @Test
  void aLostStoreIsNoticedAtTheStart() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      agent.run(fixture.task("t1", "say one"));
    }
    assertThatThrownBy(() -> start(Map.of(), Optional.of("bbs:inst-1:sess-1")))
        .isInstanceOf(AgentStartException.class)
        .hasMessageContaining("bbs:inst-1:sess-1")
        .hasMessageContaining("sess-1 any more");
  }

  @Test
  void anEarlyExitIsToldWithItsReason() throws Exception {
    OpenclawBackend backend = backend("exit");
    assertThatThrownBy(
            () ->
                backend
                    .plan(Map.of("model_id", "m"))
                    .start(fixture.slot(MODEL, Optional.empty(), Optional.empty())))
        .isInstanceOf(AgentStartException.class)
        .hasMessageContaining("openclaw exited with code 78")
        .hasMessageContaining("Invalid config: no such key");
  }

  @Test
  void theEnvironmentIsByAllowListAndNoSecretIsInAFile() throws Exception {
    try (Agent agent = start(Map.of(), Optional.empty())) {
      String answer = outputs(agent.run(fixture.task("t1", "environment")));

      assertThat(Json.object(answer.substring(1, answer.length() - 1)))
          .containsEntry("HOME", directory.resolve("home").toString())
          .containsEntry("OPENCLAW_STATE_DIR", directory.resolve("home/.openclaw").toString())
          .containsEntry("SGLANG_API_KEY", AgentFixture.MODEL_KEY)
          .containsEntry("OPENCLAW_OFFLINE", "1")
          .containsKeys("PATH", "OPENCLAW_GATEWAY_TOKEN", "BBS_PROCESS_MARKER")
          .doesNotContainKeys("SOMEBODYS_API_KEY", "OPENCLAW_BIN", "http_proxy");
      assertThat(directory.resolve("home/.openclaw/openclaw.json"))
          .content()
          .doesNotContain(AgentFixture.MODEL_KEY);
    }
  }

  private Agent start(Map<String, Object> options, Optional<String> known) throws Exception {
    Map<String, Object> all = new LinkedHashMap<>(options);
    all.put("model_id", "m");
    return backend("normal").plan(all).start(fixture.slot(MODEL, Optional.empty(), known));
  }

  private OpenclawBackend backend(String mode) throws Exception {
    return new OpenclawBackend(
        Map.of(
            "OPENCLAW_BIN",
            FakeGateway.program(programs, "OpenClaw 2026.9.6 (eb377ac)", mode).toString(),
            "PATH",
            "/usr/local/bin:/usr/bin:/bin",
            "SOMEBODYS_API_KEY",
            "secret",
            "http_proxy",
            "http://127.0.0.1:1"),
        fixture.processes);
  }

  private static String shape(Object entry) {
    Map<?, ?> message = (Map<?, ?>) entry;
    String shape = message.get("role") + ": " + message.get("content");
    if (message.get("reasoning_content") != null) {
      shape += " (" + message.get("reasoning_content") + ")";
    }
    if (message.get("tool_calls") instanceof java.util.List<?> calls) {
      Map<?, ?> call = (Map<?, ?>) calls.getFirst();
      Map<?, ?> function = (Map<?, ?>) call.get("function");
      shape += " " + call.get("id") + " " + function.get("name") + " " + function.get("arguments");
    }
    return shape;
  }

  private static String outputs(AgentResult result) {
    return Json.array(result.work().outputsJson()).stream()
        .map(message -> String.valueOf(((Map<?, ?>) message).get("content")))
        .toList()
        .toString();
  }
}
