package dev.blackbox.agent.script;

import static dev.blackbox.agent.AgentFixture.assertBroken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.Backend;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.wire.Json;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScriptAgentTest {

  private static final URI MODEL = URI.create("http://127.0.0.1:9/v1");
  private static final Map<String, String> ENVIRONMENT =
      Map.of("PATH", "/usr/local/bin:/usr/bin:/bin", "SOMEBODYS_API_KEY", "secret");

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
  void theAnswerIsWhatTheProgramPrints() throws Exception {
    try (Agent agent = start("cat; echo; pwd; sleep 300 &")) {
      String prompt = "--help «me»".repeat(50_000); // longer than an argument may be
      AgentResult result = agent.run(fixture.task("t1", prompt));

      assertThat(result).isInstanceOf(AgentResult.Answered.class);
      assertThat(answer(result)).isEqualTo(prompt + "\n" + directory.resolve("workspace"));
      assertThat(result.work().backendSessionId()).isEqualTo("script-inst-1-sess-1");
      assertThat(fixture.backendSessions).containsExactly("script-inst-1-sess-1");
      try (Stream<Path> left = Files.list(directory.resolve("tmp"))) {
        assertThat(left).isEmpty();
      }
    }
  }

  @Test
  void theEnvironmentIsComplete() throws Exception {
    try (Agent agent = start("env; cat \"$BBS_SYSTEM_PROMPT_FILE\"")) {
      String answer = answer(agent.run(fixture.task("t1", "go")));

      assertThat(answer)
          .contains("OPENAI_BASE_URL=" + MODEL)
          .contains("OPENAI_API_KEY=" + AgentFixture.MODEL_KEY)
          .contains("BBS_TURN_ID=t1")
          .contains("BBS_SESSION_ID=sess-1")
          .contains("BBS_AGENT_SESSION=script-inst-1-sess-1")
          .contains("HOME=" + directory.resolve("home"))
          .endsWith("be brief")
          .doesNotContain("SOMEBODYS_API_KEY");
    }
  }

  @Test
  void failuresAreToldByKind() throws Exception {
    try (Agent agent = start("read word rest; echo \"$rest\" >&2; eval \"$word\" \"$rest\"")) {
      assertBroken(
          agent.run(fixture.task("t1", "exit 7\n")),
          Kind.TRANSPORT,
          "script exited with code 7; stderr tail: 7");
      assertBroken(
          agent.run(fixture.task("t2", "true quiet\n")), Kind.PROTOCOL, "printed no answer");
      Files.delete(program());
      assertBroken(agent.run(fixture.task("t3", "echo hi\n")), Kind.PROCESS, "cannot be started");
      assertThat(agent.healthy()).isFalse();
    }
  }

  @Test
  void stoppingEndsTheWholeTree() throws Exception {
    try (Agent agent =
        start(
            "echo half; setsid sh -c 'echo $$ > pid.part; mv pid.part pid; exec sleep 300' &"
                + " trap '' TERM; while :; do sleep 1; done")) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "go")));
      Path file = directory.resolve("workspace/pid");
      await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(file));
      ProcessIdentity child =
          ProcessIdentity.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();

      assertThat(agent.stop(Duration.ofSeconds(20))).isEqualTo(StopReport.STOPPED);

      assertThat(child.isRunning()).isFalse();
      AgentResult result = turn.get(10, TimeUnit.SECONDS);
      assertThat(result).isInstanceOf(AgentResult.Stopped.class);
      assertThat(answer(result)).isEqualTo("half");
      assertThat(agent.stop(Duration.ofSeconds(1))).isEqualTo(StopReport.NOTHING);
    }
  }

  @Test
  void closingEndsARunningTurn() throws Exception {
    CompletableFuture<AgentResult> turn;
    try (Agent agent = start("touch up; exec sleep 300")) {
      turn = CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "go")));
      Path up = directory.resolve("workspace/up");
      await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(up));
    }
    assertThat(turn.get(10, TimeUnit.SECONDS)).isInstanceOf(AgentResult.Stopped.class);
  }

  @Test
  void thereAreNoOptions() throws Exception {
    Backend backend = backend("true");

    assertThatThrownBy(() -> backend.plan(Map.of("program", "/bin/rm")))
        .isInstanceOf(Problem.class)
        .hasMessageStartingWith("Invalid script backend_options: program: unexpected");
    assertThat(backend.plan(Map.of()).identity()).containsOnlyKeys("program", "sha256");
  }

  @Test
  void aMissingProgramIsNamed() {
    Backend backend = new ScriptBackend(Path.of("/no/such/agent"), ENVIRONMENT);

    assertThatThrownBy(() -> backend.plan(Map.of()))
        .isInstanceOfSatisfying(
            Problem.class, problem -> assertThat(problem.code()).isEqualTo(ErrorCode.BACKEND_ERROR))
        .hasMessageContaining("/no/such/agent");
  }

  private Path program() {
    return programs.resolve("agent.sh");
  }

  private Backend backend(String script) throws Exception {
    Files.writeString(program(), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program(), PosixFilePermissions.fromString("rwx------"));
    return new ScriptBackend(program(), ENVIRONMENT);
  }

  private Agent start(String script) throws Exception {
    return backend(script)
        .plan(Map.of())
        .start(fixture.slot(MODEL, Optional.of("be brief"), Optional.empty()));
  }

  private static String answer(AgentResult result) {
    return (String) ((Map<?, ?>) Json.array(result.work().outputsJson()).getLast()).get("content");
  }
}
