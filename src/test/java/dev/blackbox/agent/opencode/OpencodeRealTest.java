package dev.blackbox.agent.opencode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.wire.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;

/**
 * The adapter with the real opencode. Run with {@code -Dincluded.groups=agents
 * -Dexcluded.groups=none}; the program is that of {@code -Dopencode.bin}, else of {@code
 * OPENCODE_BIN}, else the one on the path.
 */
@Tag("agents")
class OpencodeRealTest {

  private static final Map<String, Object> OPTIONS =
      Map.of(
          "provider_id", "engine",
          "provider_name", "Engine",
          "provider_package", "@ai-sdk/openai-compatible",
          "model_id", "m1",
          "model_name", "Model one",
          "model_limit", Map.of("context", 32_000, "output", 4_096));

  @TempDir Path directory;

  private AgentFixture fixture;
  private ScriptedChat chat;
  private Backend.Plan plan;

  @BeforeEach
  void open() throws Exception {
    fixture = new AgentFixture(directory);
    chat = new ScriptedChat();
    Map<String, String> environment = new java.util.HashMap<>(System.getenv());
    Optional.ofNullable(System.getProperty("opencode.bin"))
        .ifPresent(program -> environment.put("OPENCODE_BIN", program));
    plan = new OpencodeBackend(environment, fixture.processes).plan(OPTIONS);
  }

  @AfterEach
  void nothingIsLeft() {
    chat.close();
    fixture.close();
  }

  @Test
  void twoTurnsShareTheirContextAndToolsChangeFiles() throws Exception {
    assertThat(plan.identity().get("version")).isEqualTo(OpencodeBackend.TESTED_VERSION);
    try (Agent agent =
        plan.start(fixture.slot(chat.base(), Optional.of("Be «brief»."), Optional.empty()))) {
      assertThat(agent.healthy()).isTrue();
      AgentResult first = agent.run(fixture.task("t1", "tool echo made > file.txt; env; pwd"));
      AgentResult second = agent.run(fixture.task("t2", "and now?"));

      assertThat(first).isInstanceOf(AgentResult.Answered.class);
      assertThat(Files.readString(directory.resolve("workspace/file.txt"))).isEqualTo("made\n");
      assertThat(Json.array(first.work().outputsJson())).hasSize(3);
      assertThat(first.work().outputsJson()).contains("I saw 1").contains(directory + "/workspace");
      assertThat(first.work().usage().steps()).isEqualTo(2);
      assertThat(first.work().usage().toolCalls()).isEqualTo(1);
      assertThat(first.work().usage().inputTokens()).isEqualTo(200);
      assertThat(first.work().usage().totalTokens()).isEqualTo(214);
      assertThat(second.work().outputsJson()).contains("I saw 2");
      assertThat(Json.array(second.work().outputsJson())).hasSize(1);
      assertThat(fixture.backendSessions).hasSize(2).containsOnly(first.work().backendSessionId());
      assertThat(chat.authorizations).containsOnly("Bearer " + AgentFixture.MODEL_KEY);
      assertThat(Json.write(chat.requests.getFirst())).contains("Be «brief».");
    }
  }

  @Test
  void aStoppedTurnLeavesNothingAndTheSessionGoesOn(TestReporter times) throws Exception {
    try (Agent agent = plan.start(fixture.slot(chat.base(), Optional.empty(), Optional.empty()))) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(
              () ->
                  agent.run(
                      fixture.task(
                          "t1",
                          "tool setsid sh -c 'echo $$ > escaped; exec sleep 300' &"
                              + " echo $$ > shell; sleep 300")));
      ProcessIdentity escaped = pid("escaped");
      ProcessIdentity shell = pid("shell");
      assertThat(agent.healthy()).isTrue();
      long before = System.nanoTime();

      assertThat(agent.stop(Duration.ofSeconds(10))).isEqualTo(StopReport.STOPPED);

      Duration took = Duration.ofNanos(System.nanoTime() - before);
      times.publishEntry("stop, ms", Long.toString(took.toMillis()));
      assertThat(took).isLessThan(Duration.ofSeconds(5));
      assertThat(escaped.isRunning()).isFalse();
      assertThat(shell.isRunning()).isFalse();
      AgentResult stopped = turn.get(10, TimeUnit.SECONDS);
      assertThat(stopped).isInstanceOf(AgentResult.Stopped.class);
      assertThat(stopped.work().outputsJson()).contains("sleep 300");
      assertThat(agent.run(fixture.task("t2", "hello again")))
          .isInstanceOf(AgentResult.Answered.class);
      assertThat(agent.stop(Duration.ofSeconds(1))).isEqualTo(StopReport.NOTHING);
    }
  }

  @Test
  void afterAKillTheSessionGoesOn(TestReporter times) throws Exception {
    String session;
    try (Agent agent = plan.start(fixture.slot(chat.base(), Optional.empty(), Optional.empty()))) {
      session = agent.run(fixture.task("t1", "remember me")).work().backendSessionId();
      kill(fixture.started.getLast());
      assertThat(agent.healthy()).isFalse();
      AgentResult broken = agent.run(fixture.task("t2", "are you there?"));
      assertThat(broken)
          .isInstanceOfSatisfying(
              AgentResult.Broken.class,
              result -> {
                assertThat(result.kind()).isEqualTo(AgentResult.Kind.PROCESS);
                assertThat(result.message()).contains("opencode exited with code -9");
              });
    }
    long before = System.nanoTime();
    try (Agent agent =
        plan.start(fixture.slot(chat.base(), Optional.empty(), Optional.of(session)))) {
      times.publishEntry(
          "restart, ms", Long.toString(Duration.ofNanos(System.nanoTime() - before).toMillis()));
      AgentResult second = agent.run(fixture.task("t3", "who am I?"));

      assertThat(second.work().backendSessionId()).isEqualTo(session);
      assertThat(second.work().outputsJson()).contains("I saw 2");
      assertThat(Json.array(second.work().outputsJson())).hasSize(1);
    }
  }

  @Test
  void anUnknownSessionIsRefused() {
    try (Agent agent =
        plan.start(fixture.slot(chat.base(), Optional.empty(), Optional.of("ses_nobody")))) {
      fail("started with %s", agent);
    } catch (AgentStartException refused) {
      assertThat(refused).hasMessageContaining("ses_nobody").hasMessageContaining("sess-1");
    }
  }

  @Test
  void aStreamThatIsCutCanBeStopped() throws Exception {
    try (Agent agent = plan.start(fixture.slot(chat.base(), Optional.empty(), Optional.empty()))) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "cut")));
      await().atMost(Duration.ofSeconds(30)).until(() -> chat.cuts.get() > 1);

      assertThat(agent.stop(Duration.ofSeconds(10)).proved()).isTrue();

      turn.get(10, TimeUnit.SECONDS);
      int cuts = chat.cuts.get();
      assertThat(agent.run(fixture.task("t2", "fine"))).isInstanceOf(AgentResult.Answered.class);
      assertThat(chat.cuts.get()).isEqualTo(cuts);
    }
  }

  private ProcessIdentity pid(String name) throws Exception {
    Path file = directory.resolve("workspace").resolve(name);
    await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(file) && Files.size(file) > 1);
    return ProcessIdentity.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
  }

  private static void kill(ProcessIdentity process) {
    ProcessHandle.of(process.pid()).orElseThrow().destroyForcibly();
    await().atMost(Duration.ofSeconds(10)).until(() -> !process.isRunning());
  }
}
