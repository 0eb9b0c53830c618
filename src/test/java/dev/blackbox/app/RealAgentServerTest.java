package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.EngineRequest;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.EngineUsage;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.turn.TurnKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real agent behind the real server, killed in between, with a scripted engine as its model.
 * Subclasses say which.
 */
abstract class RealAgentServerTest {

  private static final Duration LIMIT = Duration.ofMinutes(4);

  @TempDir Path root;

  private ScriptedEngine engine;
  private final List<ServerProcess> servers = new ArrayList<>();

  /** The {@code blackbox_type}. */
  abstract String type();

  abstract Map<String, Object> options();

  /** What the server needs in its environment to find the program. */
  abstract Map<String, String> environment();

  /**
   * The program that was installed for tests.
   *
   * @param variable that names it, here and to the server
   */
  static Map<String, String> installed(String variable, String name) {
    String told = System.getenv().getOrDefault(variable, "");
    Path program = told.isEmpty() ? Path.of("target/agents/bin", name) : Path.of(told);
    if (!Files.isExecutable(program)) {
      throw new IllegalStateException(
          "no " + name + ": run mvn -Pagents verify, or set " + variable);
    }
    return Map.of(variable, program.toAbsolutePath().toString());
  }

  /** The model calls the agent's shell. */
  abstract Step shell(String command);

  @BeforeEach
  void startEngine() {
    engine =
        ScriptedEngine.start(
            0,
            new EngineScript(
                List.of(
                    conversation(
                        "make the file",
                        shell("echo first > made.txt"),
                        Step.text("The file is made.")),
                    conversation(
                        "change the file",
                        shell("echo second >> made.txt"),
                        Step.text("The file is changed.")),
                    conversation("hang", shell("sleep 300"), Step.text("never said"))),
                List.of(Step.text("I remember."))));
  }

  private static EngineScript.Conversation conversation(String contains, Step... steps) {
    return new EngineScript.Conversation(contains, List.of(steps));
  }

  @AfterEach
  void endAll() {
    servers.forEach(ServerProcess::close);
    engine.close();
  }

  @Test
  void twoTurnsShareTheirContextChangeAFileAndSurviveAKill() throws Exception {
    ServerProcess first = start();
    Path workspace;
    Answer made;
    try (ServerClient client = client(first)) {
      workspace = register(client).resolve("workspace");
      made = turn(client, "t1", "Please make the file.");
      assertThat(made.status()).as(made.text()).isEqualTo(200);
      assertThat(workspace.resolve("made.txt")).hasContent("first\n");
      assertThat(turn(client, "t2", "Now change the file.").text())
          .contains("The file is changed.");
      assertThat(workspace.resolve("made.txt")).hasContent("first\nsecond\n");
      first.kill();
    }
    ServerProcess second = start();
    try (ServerClient client = client(second)) {
      Answer replay = turn(client, "t1", "Please make the file.");
      assertThat(replay.field("idempotent_replay")).isEqualTo("true");
      assertThat(replay.body().get("outputs")).isEqualTo(made.body().get("outputs"));
      await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 200);
      assertThat(turn(client, "t3", "What did you do?").text()).contains("I remember.");
      second.terminate();
      assertThat(second.awaitEnd(LIMIT)).isZero();
    }
    assertThat(lastChat().bodyText())
        .as("the third turn knows both before it, after the kill")
        .contains("make the file", "The file is made.", "change the file", "The file is changed.");
    assertCallsAreRecordedUnderTheirTurns(5);
  }

  @Test
  void aCancelInTheMiddleOfAToolCallLeavesNothingBehind() throws Exception {
    ServerProcess server = start();
    try (ServerClient client = client(server)) {
      register(client);
      assertThat(client.post("/v1/sessions/s1/messages", async("t1", "hang")).status())
          .isEqualTo(202);
      await()
          .atMost(LIMIT)
          .until(() -> server.descendants().stream().anyMatch(RealAgentServerTest::sleeps));
      long start = System.nanoTime();
      client.post("/v1/sessions/s1/turns/t1/cancel", Map.of());
      Answer settled = client.get("/v1/sessions/s1/turns/t1?wait=30");
      assertThat(settled.field("status")).isEqualTo("cancelled");
      assertThat(server.descendants()).noneMatch(RealAgentServerTest::sleeps);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
      assertThat(turn(client, "t2", "still there?").text()).contains("I remember.");
    }
  }

  private static boolean sleeps(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains("sleep 300");
  }

  /** Every call of every turn is in the ledger, and says what the engine says that it sent. */
  private void assertCallsAreRecordedUnderTheirTurns(int callsExpected) {
    List<EngineRequest> asked = engine.chatRequests();
    assertThat(asked).hasSize(callsExpected);
    assertThat(asked).allSatisfy(request -> assertThat(request.header("x-turn-id")).isPresent());
    assertThat(asked.stream().map(request -> request.header("x-turn-id").orElseThrow()))
        .containsExactly("t1", "t1", "t2", "t2", "t3");
    EngineUsage sent = engine.usageReported();
    try (LedgerInspection ledger =
        LedgerInspection.open(LedgerConfig.at(root.resolve("rt/state")))) {
      long key = ledger.reads().session(new SessionId("s1")).orElseThrow().key();
      List<LedgerFacts.CallRecord> calls = new ArrayList<>();
      List.of("t1", "t2", "t3")
          .forEach(turn -> calls.addAll(ledger.reads().calls(new TurnKey(key, new TurnId(turn)))));
      assertThat(calls).hasSize(callsExpected);
      assertThat(calls)
          .allSatisfy(call -> assertThat(call.end().orElseThrow().verdict()).isEqualTo("ok"));
      assertThat(calls).allSatisfy(call -> assertThat(call.start().stream()).isTrue());
      assertThat(
              calls.stream()
                  .mapToLong(call -> call.end().orElseThrow().promptTokens().orElseThrow())
                  .sum())
          .isEqualTo(sent.promptTokens());
      assertThat(
              calls.stream()
                  .mapToLong(call -> call.end().orElseThrow().completionTokens().orElseThrow())
                  .sum())
          .isEqualTo(sent.completionTokens());
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  private EngineRequest lastChat() {
    return engine.chatRequests().getLast();
  }

  private ServerProcess start() throws InterruptedException {
    Map<String, String> environment = new LinkedHashMap<>(environment());
    environment.put("BBS_RUNTIME_ROOT", root.resolve("rt").toString());
    environment.put("BBS_HEALTH_CHECK_TIMEOUT", Long.toString(LIMIT.toSeconds()));
    ServerProcess server =
        ServerProcess.start(List.of("--port=0"), environment, root.resolve("server.log"));
    servers.add(server);
    server.awaitReady(LIMIT);
    return server;
  }

  private static ServerClient client(ServerProcess server) {
    return new ServerClient(server.address(), LIMIT);
  }

  /** Registers, and returns the runtime directory. */
  private Path register(ServerClient client) throws InterruptedException {
    Map<String, @Nullable Object> request = new LinkedHashMap<>();
    request.put("blackbox_type", type());
    request.put("router", engine.origin() + "/v1");
    request.put("bound_session_id", "s1");
    request.put("bound_instance_id", "i1");
    request.put("backend_options", options());
    Answer answer = client.post("/v1/rollout/register", request);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    Map<?, ?> binding = (Map<?, ?>) answer.body().get("binding");
    assertThat(binding).isNotNull();
    Path directory = Path.of(String.valueOf(binding.get("runtime_dir")));
    assertThat(Files.isDirectory(directory)).isTrue();
    return directory;
  }

  private static Answer turn(ServerClient client, String turnId, String prompt)
      throws InterruptedException {
    return client.post(
        "/v1/sessions/s1/messages",
        Map.of("turn_id", turnId, "messages", List.of(Map.of("role", "user", "content", prompt))));
  }

  private static Map<String, Object> async(String turnId, String prompt) {
    return Map.of(
        "turn_id",
        turnId,
        "mode",
        "async",
        "messages",
        List.of(Map.of("role", "user", "content", prompt)));
  }
}
