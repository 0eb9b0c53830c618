package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.EngineRequest;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.EngineUsage;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One real agent behind a real server process, and the engine that plays its model. A binding is
 * shared by all turns until one of them ends so badly that its session takes no more.
 */
final class AgentStage implements Resource {

  /** For starts and turns; generous, because a gateway takes minutes on a busy machine. */
  static final Duration LIMIT = Duration.ofMinutes(8);

  /** Seconds of silence after which the proxy gives up a stalled answer. */
  static final int STALL_SECONDS = 6;

  private static final String ELSE = "I remember.";

  final AgentProgram agent;
  final ScriptedEngine engine =
      ScriptedEngine.start(0, EngineScript.always(Step.text("I have nothing to say.")));

  private final Path root;
  private final List<Turn> turns = new ArrayList<>();
  private final Set<Long> before = new HashSet<>();
  private @Nullable ServerProcess server;
  private @Nullable ServerClient client;
  private @Nullable Path directory;
  private Map<String, Object> bound = Map.of();
  private int sessions;

  AgentStage(AgentProgram agent, Path root) {
    this.agent = agent;
    this.root = root;
  }

  /**
   * A turn that was asked for.
   *
   * @param calls what the engine was asked meanwhile
   * @param told what the engine said meanwhile that it sent
   */
  record Turn(
      String session,
      String id,
      Answer answer,
      List<EngineRequest> calls,
      EngineUsage told,
      Duration took) {

    String seconds() {
      return AgentStage.seconds(took);
    }
  }

  static String seconds(Duration time) {
    return "%.1f s".formatted(time.toMillis() / 1e3);
  }

  List<Turn> turns() {
    return turns;
  }

  ServerProcess server() {
    return Objects.requireNonNull(server, "no server was started");
  }

  ServerClient client() {
    return Objects.requireNonNull(client, "no server was started");
  }

  /** The runtime directory of the binding. */
  Path directory() {
    return Objects.requireNonNull(directory, "nothing is bound");
  }

  Path workspace() {
    return directory().resolve("workspace");
  }

  Path state() {
    return root.resolve("rt/state");
  }

  String session() {
    return "s" + sessions;
  }

  /** The path of the session, and what follows it. */
  String path(String rest) {
    return "/v1/sessions/" + session() + rest;
  }

  /** Starts the server, the first time or again on the same state. */
  void start() throws InterruptedException, IOException {
    Map<String, String> environment = new LinkedHashMap<>(agent.environment());
    Files.createDirectories(root);
    environment.put("BBS_RUNTIME_ROOT", root.resolve("rt").toString());
    environment.put("BBS_HEALTH_CHECK_TIMEOUT", Long.toString(LIMIT.toSeconds()));
    environment.put("BBS_PROXY_IDLE_TIMEOUT", Integer.toString(STALL_SECONDS));
    end();
    ServerProcess started =
        ServerProcess.start(List.of("--port=0"), environment, root.resolve("server.log"));
    server = started;
    started.awaitReady(LIMIT);
    ServerClient connected = new ServerClient(started.address(), LIMIT);
    client = connected;
  }

  /** Waits until the binding of an earlier boot is there again. */
  void awaitBinding() {
    await().atMost(LIMIT).until(() -> client().get("/readyz").status() == 200);
  }

  private void end() {
    if (client != null) {
      client.close();
    }
    if (server != null) {
      server.close();
    }
  }

  /** A session that takes turns, under these options: the one that is there, else a new one. */
  void ready(Map<String, Object> options) throws InterruptedException, IOException {
    if (server == null || !server.isAlive()) {
      start();
    }
    if (sessions > 0
        && bound.equals(options)
        && client().get("/readyz").status() == 200
        && client().get(path("")).field("state").equals("active")) {
      return;
    }
    bind(options);
  }

  /** Aborts the session, if there is one, and registers another. */
  void bind(Map<String, Object> options) throws InterruptedException {
    if (sessions > 0) {
      assertThat(client().post(path("/abort"), Map.of()).status()).isEqualTo(200);
    }
    sessions++;
    bound = options;
    Map<String, @Nullable Object> request = new LinkedHashMap<>();
    request.put("blackbox_type", agent.type());
    request.put("router", engine.origin() + "/v1");
    request.put("bound_session_id", session());
    request.put("bound_instance_id", "i1");
    request.put("backend_options", agent.options(options));
    Answer answer = client().post("/v1/rollout/register", request);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    Map<?, ?> binding = (Map<?, ?>) answer.body().get("binding");
    assertThat(binding).isNotNull();
    directory = Path.of(String.valueOf(binding.get("runtime_dir")));
  }

  /** From now on the model says these steps to a prompt with the key, and a text to others. */
  void script(String key, Step... steps) {
    engine.script(
        new EngineScript(
            List.of(new EngineScript.Conversation(key, List.of(steps))), List.of(Step.text(ELSE))));
  }

  /** A turn whose model says these steps; waits for its end. */
  Turn turn(String prompt, Step... steps) throws InterruptedException {
    String id = nextTurn();
    String key = prompt + " (" + session() + "/" + id + ")";
    if (steps.length > 0) {
      script(key, steps);
    }
    int asked = engine.chatRequests().size();
    EngineUsage told = engine.usageReported();
    long start = System.nanoTime();
    Answer answer = client().post(path("/messages"), body(id, key));
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    List<EngineRequest> all = engine.chatRequests();
    Turn turn =
        new Turn(
            session(),
            id,
            answer,
            all.subList(asked, all.size()),
            minus(engine.usageReported(), told),
            took);
    turns.add(turn);
    assertTrue(turn);
    return turn;
  }

  /** As above, for a turn that has to be answered. */
  Turn answered(String prompt, Step... steps) throws InterruptedException {
    Turn turn = turn(prompt, steps);
    assertThat(turn.answer().status()).as(turn.answer().text()).isEqualTo(200);
    return turn;
  }

  /** The turn's calls have its name, and its usage is what the engine sent. */
  private static void assertTrue(Turn turn) {
    assertThat(turn.calls())
        .allSatisfy(
            call -> {
              assertThat(call.header("x-turn-id")).hasValue(turn.id());
              assertThat(call.header("x-session-id")).hasValue(turn.session());
            });
    if (turn.answer().status() == 200) {
      assertThat(turn.answer().body().get("usage"))
          .extracting("input_tokens", "output_tokens")
          .as("the turn's usage and the engine's")
          .containsExactly((int) turn.told().promptTokens(), (int) turn.told().completionTokens());
    }
  }

  private static EngineUsage minus(EngineUsage now, EngineUsage then) {
    return new EngineUsage(
        now.promptTokens() - then.promptTokens(),
        now.completionTokens() - then.completionTokens(),
        now.reasoningTokens() - then.reasoningTokens(),
        now.cachedTokens() - then.cachedTokens());
  }

  private String nextTurn() {
    return "t" + (turns.size() + 1);
  }

  private static Map<String, Object> body(String turnId, String prompt) {
    return Map.of(
        "turn_id", turnId, "messages", List.of(Map.of("role", "user", "content", prompt)));
  }

  /**
   * A turn in the middle of a {@code sleep 300} in the agent's shell.
   *
   * @param word is in the command lines of the sleep and its shells, and in nobody else's
   */
  record Sleeping(String id, Map<String, Object> body, String word) {
    List<ProcessHandle> processes() {
      return ProcessHandle.allProcesses()
          .filter(process -> process.info().commandLine().orElse("").contains(word))
          .toList();
    }
  }

  /** Begins such a turn, and returns when it sleeps. */
  Sleeping sleep() throws InterruptedException {
    String id = nextTurn();
    before.clear();
    server().descendants().forEach(process -> before.add(process.pid()));
    // Digits only, because it is a number of seconds, and one that no other sleep has.
    String word = "300." + ProcessHandle.current().pid() + System.nanoTime();
    String prompt = "Please wait (" + session() + "/" + id + ")";
    Step late = Step.text("never said").withDelayBeforeFirst(Duration.ofMinutes(5));
    script(prompt, agent.shell("sleep " + word), late);
    turns.add(
        new Turn(session(), id, new Answer(0, "", Map.of()), List.of(), none(), Duration.ZERO));
    Map<String, Object> body = new LinkedHashMap<>(body(id, prompt));
    body.put("mode", "async");
    assertThat(client().post(path("/messages"), body).status()).isEqualTo(202);
    Sleeping sleeping = new Sleeping(id, body, word);
    await().atMost(LIMIT).until(() -> !sleeping.processes().isEmpty());
    return sleeping;
  }

  private EngineUsage none() {
    EngineUsage now = engine.usageReported();
    return minus(now, now);
  }

  /** Processes of the server that were not there when the sleeping turn began. */
  List<ProcessHandle> startedSince() {
    return server().descendants().stream()
        .filter(process -> !before.contains(process.pid()))
        .filter(KillPointsTest::runs)
        .toList();
  }

  @Override
  public void close() {
    end();
    engine.close();
  }
}
