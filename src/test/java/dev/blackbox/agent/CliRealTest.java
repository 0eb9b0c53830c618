package dev.blackbox.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.turn.Usage;
import dev.blackbox.wire.Json;
import java.io.IOException;
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
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The adapters with the real Claude Code and Codex, which {@code CLAUDE_CODE_BIN} and {@code
 * CODEX_BIN} name. Run with {@code -Dincluded.groups=agents -Dexcluded.groups=none}.
 */
@Tag("agents")
class CliRealTest {

  @TempDir Path directory;

  private AgentFixture fixture;
  private ScriptedModel model;

  /** A backend, and what its program is called by. */
  enum Program {
    CLAUDE_CODE("claude_code", "CLAUDE_CODE_BIN", "\"name\":\"Bash\""),
    CODEX("codex", "CODEX_BIN", "\"name\":\"command_execution\"");

    private final String type;
    private final String variable;
    private final String shell;

    Program(String type, String variable, String shell) {
      this.type = type;
      this.variable = variable;
      this.shell = shell;
    }
  }

  @BeforeEach
  void open() throws Exception {
    fixture = new AgentFixture(directory);
    model = new ScriptedModel();
  }

  @AfterEach
  void nothingIsLeft() {
    model.close();
    fixture.close();
  }

  private Agent start(Program program, Map<String, Object> options, Optional<String> known)
      throws Exception {
    assumeThat(System.getenv(program.variable)).as(program.variable).isNotNull();
    return Backends.standard(System.getenv(), fixture.processes, Optional.empty())
        .find(program.type)
        .orElseThrow()
        .plan(options)
        .start(fixture.slot(model.base(), Optional.of("Be «brief»."), known));
  }

  @ParameterizedTest
  @EnumSource
  void turnsShareTheirContextAlsoAfterAnotherStart(Program program, TestReporter times)
      throws Exception {
    String session;
    try (Agent agent = start(program, Map.of(), Optional.empty())) {
      AgentResult first =
          timed(times, agent, "--help order: tool echo made > file.txt; env; pwd END");
      assertThat(first).isInstanceOf(AgentResult.Answered.class);
      assertThat(Files.readString(directory.resolve("workspace/file.txt"))).isEqualTo("made\n");
      assertThat(Json.array(first.work().outputsJson())).hasSize(3);
      assertThat(first.work().outputsJson())
          .contains("I saw 1", program.shell, directory + "/workspace");
      assertThat(first.work().usage()).isEqualTo(new Usage(214, 200, 14, 0, 2, 1));

      AgentResult second = timed(times, agent, "order: and now? END");
      assertThat(second.work().outputsJson()).contains("I saw 2");
      assertThat(second.work().usage()).isEqualTo(new Usage(107, 100, 7, 0, 1, 0));
      session = second.work().backendSessionId();
    }
    try (Agent agent = start(program, Map.of(), Optional.of(session))) {
      AgentResult third = timed(times, agent, "order: and then? END");
      assertThat(third).isInstanceOf(AgentResult.Answered.class);
      assertThat(third.work().outputsJson()).contains("I saw 3");
    }
    assertThat(fixture.backendSessions).containsOnly(session);
    assertThat(model.authorizations).containsOnly("Bearer " + AgentFixture.MODEL_KEY);
    assertThat(model.paths).containsOnly(model.paths.getFirst());
    assertThat(model.bodies.getFirst()).contains("Be «brief».");
  }

  @ParameterizedTest
  @EnumSource
  void aStoppedTurnLeavesNothingAndTheConversationGoesOn(Program program, TestReporter times)
      throws Exception {
    try (Agent agent = start(program, Map.of(), Optional.empty())) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(
              () ->
                  agent.run(
                      fixture.task(
                          "t1",
                          "order: tool setsid sh -c 'echo $$ > escaped; exec sleep 300' &"
                              + " echo $$ > shell; sleep 300 END")));
      ProcessIdentity escaped = pid("escaped");
      ProcessIdentity shell = pid("shell");
      long before = System.nanoTime();

      assertThat(agent.stop(Duration.ofSeconds(10))).isEqualTo(StopReport.STOPPED);

      times.publishEntry(program.type + " stop", (System.nanoTime() - before) / 1_000_000 + " ms");
      assertThat(escaped.isRunning()).isFalse();
      assertThat(shell.isRunning()).isFalse();
      assertThat(turn.get(10, TimeUnit.SECONDS)).isInstanceOf(AgentResult.Stopped.class);
      int calls = model.bodies.size();
      AgentResult next = timed(times, agent, "order: go on END");
      assertThat(next).isInstanceOf(AgentResult.Answered.class);
      assertThat(next.work().outputsJson()).contains("I saw 2");
      assertThat(model.bodies).hasSize(calls + 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRefusedCallIsToldAndTheConversationGoesOn(Program program, TestReporter times)
      throws Exception {
    try (Agent agent = start(program, Map.of(), Optional.empty())) {
      AgentResult refused = timed(times, agent, "order: fail END");

      assertThat(refused)
          .isInstanceOfSatisfying(
              AgentResult.Broken.class,
              broken -> {
                assertThat(broken.kind()).isEqualTo(AgentResult.Kind.TRANSPORT);
                assertThat(broken.message())
                    .contains(program.type + " exited with code 1")
                    .contains("refused");
              });
      assertThat(timed(times, agent, "order: go on END")).isInstanceOf(AgentResult.Answered.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLongPromptArrivesWhole(Program program, TestReporter times) throws Exception {
    String prompt = "--dash «x» ".repeat(20_000) + "LAST order: read it END";
    try (Agent agent = start(program, Map.of(), Optional.empty())) {
      assertThat(timed(times, agent, prompt)).isInstanceOf(AgentResult.Answered.class);
      assertThat(model.bodies.getLast()).contains("--dash «x» LAST order");
    }
  }

  @ParameterizedTest
  @EnumSource(names = "CLAUDE_CODE")
  void theLimitOfTurnsIsToldAsSuch(Program program, TestReporter times) throws Exception {
    try (Agent agent = start(program, Map.of("max_turns", 3), Optional.empty())) {
      assertThat(timed(times, agent, "order: loop END")).isInstanceOf(AgentResult.OutOfSteps.class);
      assertThat(model.bodies).hasSize(3);
    }
  }

  private AgentResult timed(TestReporter times, Agent agent, String prompt) {
    long before = System.nanoTime();
    AgentResult result = agent.run(fixture.task("t1", prompt));
    times.publishEntry("turn", (System.nanoTime() - before) / 1_000_000 + " ms");
    if (result instanceof AgentResult.Broken broken) {
      times.publishEntry("broken", broken.message());
    }
    return result;
  }

  private ProcessIdentity pid(String file) throws IOException {
    Path path = directory.resolve("workspace").resolve(file);
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> Files.exists(path) && !Files.readString(path).isBlank());
    return ProcessIdentity.of(Long.parseLong(Files.readString(path).strip())).orElseThrow();
  }
}
