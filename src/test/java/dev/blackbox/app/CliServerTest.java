package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.turn.TurnKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The real Claude Code and the real Codex behind the real server, with a scripted engine that
 * speaks chat completions only. {@code CLAUDE_CODE_BIN} and {@code CODEX_BIN} name the programs.
 * Run with {@code -Dincluded.groups=agents -Dexcluded.groups=none}.
 */
@Tag("agents")
@Timeout(300)
class CliServerTest {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** A backend, and how its program calls the shell. */
  enum Program {
    CLAUDE_CODE("claude_code", "CLAUDE_CODE_BIN", "Bash", "command", "anthropic"),
    CODEX("codex", "CODEX_BIN", "exec_command", "cmd", "responses");

    private final String type;
    private final String variable;
    private final String tool;
    private final String argument;
    private final String dialect;

    Program(String type, String variable, String tool, String argument, String dialect) {
      this.type = type;
      this.variable = variable;
      this.tool = tool;
      this.argument = argument;
      this.dialect = dialect;
    }

    Step shell(String command) {
      return Step.toolCall(tool, "{\"" + argument + "\":\"" + command + "\"}");
    }
  }

  @TempDir Path root;

  private ScriptedEngine engine;
  private @Nullable ServerProcess server;
  private @Nullable ServerClient client;

  @BeforeEach
  void startEngine() {
    engine = ScriptedEngine.start(0, EngineScript.always(Step.text("I have nothing to say.")));
  }

  @AfterEach
  void endAll() {
    if (client != null) {
      client.close();
    }
    if (server != null) {
      server.close();
    }
    engine.close();
  }

  @ParameterizedTest
  @EnumSource
  void aTurnWithAToolWorksAndIsRecorded(Program program) throws Exception {
    engine.script(
        new EngineScript(
            List.of(
                new EngineScript.Conversation(
                    "make the file",
                    List.of(
                        program.shell("echo made > made.txt"), Step.text("The file is made.")))),
            List.of(Step.text("I remember."))));
    Path workspace = start(program, Map.of()).resolve("workspace");

    Answer made = turn("t1", "Please make the file.");
    assertThat(made.status()).as(made.text()).isEqualTo(200);
    assertThat(made.text()).contains("The file is made.");
    assertThat(workspace.resolve("made.txt")).hasContent("made\n");
    assertThat(turn("t2", "What was it?").text()).contains("I remember.");
    assertThat(engine.chatRequests().getLast().bodyText())
        .contains("make the file", "The file is made.");

    List<LedgerFacts.CallRecord> calls = calls("t1");
    assertThat(calls).hasSize(2);
    assertThat(calls)
        .allSatisfy(
            call -> {
              assertThat(call.start().dialect()).isEqualTo(program.dialect);
              assertThat(call.start().stream()).isTrue();
              assertThat(call.end().orElseThrow().verdict()).isEqualTo("ok");
            });
    assertThat(engine.usageReported().promptTokens())
        .isEqualTo(tokens(calls) + tokens(calls("t2")));
    assertThat(made.body().get("usage")).extracting("steps", "tool_calls").containsExactly(2, 1);
  }

  @ParameterizedTest
  @EnumSource
  void theStepBudgetEndsTheTurnAtOnce(Program program, TestReporter report) throws Exception {
    engine.script(EngineScript.always(program.shell("true")));
    start(program, Map.of("proxy", Map.of("max_steps", 2)));
    Answer answer = turn("t1", "Work on.");
    report.publishEntry(program.type, answer.text());
    assertThat(answer.status()).isEqualTo(429);
    assertThat(answer.text()).contains("max_steps_exceeded");
    assertThat(engine.chatRequests()).hasSize(2);
  }

  @ParameterizedTest
  @EnumSource
  void aVoidRolloutEndsTheTurnWithOneCall(Program program, TestReporter report) throws Exception {
    fault(
        Fault.Instead.error(
            502, "{\"detail\":{\"error\":\"generation_preempted\",\"message\":\"weights\"}}"));
    start(program, Map.of());
    Answer answer = turn("t1", "Work.");
    report.publishEntry(program.type, answer.text());
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.text()).contains("Dressage proxy generation_preempted: weights");
    assertThat(engine.chatRequests()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void anOverflowIsTheTurnsError(Program program, TestReporter report) throws Exception {
    fault(
        Fault.Instead.error(
            413,
            "{\"error\":\"context_overflow\",\"message\":\"too much\",\"details\":"
                + "{\"context_window\":4096,\"input_tokens\":5000}}"));
    start(program, Map.of());
    Answer answer = turn("t1", "Work.");
    report.publishEntry(program.type, answer.text() + " " + engine.chatRequests().size());
    assertThat(answer.status()).isEqualTo(413);
    assertThat(answer.text()).contains("\"context_window\":4096");
  }

  @ParameterizedTest
  @EnumSource
  void aBrokenStreamIsNoAnswer(Program program, TestReporter report) throws Exception {
    fault(new Fault.CutAfterEvents(3, false));
    start(program, Map.of());
    Answer answer = turn("t1", "Work.");
    report.publishEntry(program.type, answer.text() + " " + engine.chatRequests().size());
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.text()).contains("backend_error");
    assertThat(calls("t1"))
        .allSatisfy(call -> assertThat(call.end().orElseThrow().verdict()).isEqualTo("truncated"));
  }

  private void fault(Fault fault) {
    engine.script(EngineScript.always(Step.text("An answer in a few events.").with(fault)));
  }

  private static long tokens(List<LedgerFacts.CallRecord> calls) {
    return calls.stream()
        .mapToLong(call -> call.end().orElseThrow().promptTokens().orElseThrow())
        .sum();
  }

  /** Ends the server, which holds the ledger. */
  private List<LedgerFacts.CallRecord> calls(String turn) throws Exception {
    ServerProcess running = server;
    assertThat(running).isNotNull();
    running.terminate();
    assertThat(running.awaitEnd(LIMIT)).isZero();
    try (LedgerInspection ledger =
        LedgerInspection.open(LedgerConfig.at(root.resolve("rt/state")))) {
      long key = ledger.reads().session(new SessionId("s1")).orElseThrow().key();
      return ledger.reads().calls(new TurnKey(key, new TurnId(turn)));
    }
  }

  /** Starts the server and registers; the runtime directory. */
  private Path start(Program program, Map<String, Object> options) throws Exception {
    String binary = System.getenv(program.variable);
    assumeThat(binary).as(program.variable).isNotNull();
    Map<String, String> environment = new HashMap<>();
    environment.put("BBS_RUNTIME_ROOT", root.resolve("rt").toString());
    environment.put(program.variable, binary);
    environment.put("PATH", System.getenv("PATH"));
    ServerProcess started =
        ServerProcess.start(List.of("--port=0"), environment, root.resolve("server.log"));
    server = started;
    started.awaitReady(LIMIT);
    ServerClient connected = new ServerClient(started.address(), LIMIT);
    client = connected;
    Map<String, @Nullable Object> request = new LinkedHashMap<>();
    request.put("blackbox_type", program.type);
    request.put("router", engine.origin() + "/v1");
    request.put("bound_session_id", "s1");
    request.put("bound_instance_id", "i1");
    request.put("backend_options", options);
    Answer answer = connected.post("/v1/rollout/register", request);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    Map<?, ?> binding = (Map<?, ?>) answer.body().get("binding");
    assertThat(binding).isNotNull();
    return Path.of(String.valueOf(binding.get("runtime_dir")));
  }

  private Answer turn(String turnId, String prompt) throws InterruptedException {
    ServerClient connected = client;
    assertThat(connected).isNotNull();
    return connected.post(
        "/v1/sessions/s1/messages",
        Map.of("turn_id", turnId, "messages", List.of(Map.of("role", "user", "content", prompt))));
  }
}
