package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a user relies on, asked of the whole server as a process, with an agent that calls its model
 * through the proxy.
 */
@Timeout(120)
class WholeServerTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String PROMPT = "prompt-8b1f3e";
  private static final String ANSWER = "answer-4c2d9a";

  @TempDir Path root;

  private ScriptedEngine engine;
  private ServerProcess server;
  private ServerClient client;

  @BeforeEach
  void start() throws Exception {
    engine = ScriptedEngine.start(0, EngineScript.always(Step.text(ANSWER)));
    startServer();
    Answer registered =
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type", "script",
                "router", engine.origin() + "/v1",
                "bound_session_id", "s1",
                "bound_instance_id", "i1"));
    assertThat(registered.status()).as(registered.text()).isEqualTo(200);
  }

  private void startServer() throws Exception {
    server =
        ServerProcess.start(
            List.of("--port=0"),
            Map.of(
                "BBS_RUNTIME_ROOT",
                root.resolve("rt").toString(),
                "BBS_SCRIPT_AGENT",
                agent().toString()),
            root.resolve("server.log"));
    server.awaitReady(LIMIT);
    client = new ServerClient(server.address(), LIMIT);
  }

  @AfterEach
  void end() {
    client.close();
    server.close();
    engine.close();
  }

  @Test
  void p2_sixtyFourClientsSendOneTurnIdAndGetOneAnswerOfOneRun() throws Exception {
    List<Future<Answer>> answers = new ArrayList<>();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 64; i++) {
        answers.add(clients.submit(() -> turn("t1", PROMPT)));
      }
    }
    assertThat(lines("runs")).hasSize(1);
    for (Future<Answer> answer : answers) {
      assertThat(answer.get().status()).isEqualTo(200);
      assertThat(answer.get().body().get("outputs"))
          .isEqualTo(answers.getFirst().get().body().get("outputs"));
    }
    assertThat(engine.chatRequests()).hasSize(1);
  }

  @Test
  void p8_theModelIsAskedUnderTheTurnsNamesAndTheUsageIsTheEngines() throws Exception {
    Answer answer = turn("t1", PROMPT);
    assertThat(answer.text()).contains(ANSWER);
    assertThat(engine.chatRequests())
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.header("x-turn-id")).contains("t1");
              assertThat(request.header("x-session-id")).contains("s1");
              assertThat(request.header("x-instance-id")).contains("i1");
              assertThat(request.header("authorization")).isEmpty();
            });
    assertThat(answer.body().get("usage"))
        .extracting("input_tokens", "output_tokens", "steps")
        .containsExactly(
            (int) engine.usageReported().promptTokens(),
            (int) engine.usageReported().completionTokens(),
            1);
  }

  @Test
  void theTraceOfATurnIsOnItsModelCalls() throws Exception {
    String parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    Map<String, Object> turn =
        Map.of(
            "turn_id",
            "t1",
            "messages",
            List.of(Map.of("role", "user", "content", PROMPT)),
            "metadata",
            Map.of("traceparent", parent, "tracestate", "x=1,y=2"));
    assertThat(client.post("/v1/sessions/s1/messages", turn).status()).isEqualTo(200);
    assertThat(engine.chatRequests())
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.header("traceparent")).contains(parent);
              assertThat(request.header("tracestate")).contains("x=1,y=2");
            });
  }

  @Test
  void aTurnThatWasQueuedWhenTheServerWasKilledHasItsTraceToo() throws Exception {
    String parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    Map<String, Object> turn =
        Map.of(
            "turn_id",
            "t1",
            "mode",
            "async",
            "messages",
            List.of(Map.of("role", "user", "content", PROMPT)),
            "metadata",
            Map.of("traceparent", parent, "tracestate", "x=1"));
    assertThat(client.post("/v1/rollout/pause", Map.of()).status()).isEqualTo(200);
    Answer queued = client.post("/v1/sessions/s1/messages", turn);
    assertThat(queued.field("status")).as(queued.text()).isEqualTo("queued");
    server.kill();
    client.close();
    assertThat(engine.chatRequests()).isEmpty();

    startServer();
    await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 200);
    assertThat(client.post("/v1/rollout/resume", Map.of()).status()).isEqualTo(200);
    await()
        .atMost(LIMIT)
        .until(() -> client.get("/v1/sessions/s1/turns/t1").field("status").equals("committed"));
    assertThat(lines("runs")).containsExactly("t1");
    assertThat(engine.chatRequests())
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.header("x-turn-id")).contains("t1");
              assertThat(request.header("traceparent")).contains(parent);
              assertThat(request.header("tracestate")).contains("x=1");
            });
  }

  @Test
  void p8_anAgentThatIsStartedForATurnHasAKeyForThatTurn() throws Exception {
    assertThat(turn("t1", PROMPT).text()).contains(ANSWER);
    String first = Files.readString(root.resolve("key")).strip();
    assertThat(turn("t2", PROMPT).text()).contains(ANSWER);
    String second = Files.readString(root.resolve("key")).strip();
    assertThat(first).startsWith("bbs-turn-").hasSameSizeAs(second).isNotEqualTo(second);
  }

  @Test
  void nothingOfPromptsAnswersAndKeysIsLoggedOrShownToOtherUsers() throws Exception {
    turn("t1", PROMPT);
    turn("bad id", PROMPT);
    client.post("/v1/sessions/s1/execute_cmd", Map.of("cmd", "echo command-77ac"));
    server.terminate();
    assertThat(server.awaitEnd(LIMIT)).isZero();
    String key = Files.readString(root.resolve("key")).strip();
    assertThat(key).hasSizeGreaterThan(20);
    assertThat(Files.readString(root.resolve("server.log")))
        .doesNotContain(PROMPT, ANSWER, key, "command-77ac", "Exception");
    assertThat(Files.readString(root.resolve("argv"))).doesNotContain(PROMPT, key);
    try (Stream<Path> ledger = Files.list(root.resolve("rt/state"))) {
      for (Path file : ledger.toList()) {
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain(key);
      }
    }
  }

  @Test
  void aCommandWithABackgroundChildAnswersAtItsOwnEndAndLeavesNothing() throws Exception {
    turn("t1", PROMPT);
    long start = System.nanoTime();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Answer> command =
          clients.submit(
              () ->
                  client.post(
                      "/v1/sessions/s1/execute_cmd",
                      Map.of("cmd", "sleep 60 & echo hi", "timeout", 2)));
      long pollStart = System.nanoTime();
      assertThat(client.get("/v1/sessions/s1/turns/t1").status()).isEqualTo(200);
      assertThat(Duration.ofNanos(System.nanoTime() - pollStart)).isLessThan(Duration.ofSeconds(1));
      Answer answer = command.get(30, TimeUnit.SECONDS);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(2500));
      assertThat(answer.field("stdout")).isEqualTo("hi\n");
      assertThat(answer.field("returncode")).isEqualTo("0");
    }
    assertThat(server.descendants())
        .noneMatch(process -> process.info().commandLine().orElse("").contains("sleep 60"));
  }

  @Test
  void badInputGetsAClearAnswerAndChangesNothing() throws Exception {
    Answer before = client.get("/v1/sessions/s1?include_turns=true");
    String user = "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";
    List<String> bodies =
        List.of(
            "not json",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud83d\"}],\"turn_id\":\"t\"}",
            "{" + user + ",\"turn_id\":5}",
            "{" + user + ",\"turn_id\":\"" + "a".repeat(1 << 20) + "\"}",
            "{\"turn_id\":\"t\"}",
            "[".repeat(100_000));
    for (String body : bodies) {
      HttpResponse<String> answer = raw("/v1/sessions/s1/messages", body);
      assertThat(answer.statusCode())
          .as(body.substring(0, Math.min(60, body.length())))
          .isEqualTo(400);
      assertThat(answer.body()).contains("\"error\":\"request_error\"", "\"request_id\":\"req-");
    }
    assertThat(client.get("/v1/sessions/s1/turns/t1?wait=abc").status()).isEqualTo(400);
    assertThat(client.get("/v1/sessions/other").status()).isEqualTo(409);
    assertThat(client.get("/v1/nowhere").status()).isEqualTo(404);
    assertThat(
            raw("/v1/rollout/register", "{\"blackbox_type\":\"script\",\"router\":\"http://\"}")
                .statusCode())
        .isEqualTo(400);
    Answer after = client.get("/v1/sessions/s1?include_turns=true");
    assertThat(after.body().get("turn_ledger")).isEqualTo(before.body().get("turn_ledger"));
    assertThat(after.field("state")).isEqualTo("active");
    assertThat(lines("runs")).isEmpty();
  }

  private Answer turn(String turnId, String prompt) throws InterruptedException {
    return client.post(
        "/v1/sessions/s1/messages",
        Map.of("turn_id", turnId, "messages", List.of(Map.of("role", "user", "content", prompt))));
  }

  private HttpResponse<String> raw(String path, String body)
      throws IOException, InterruptedException {
    URI target = server.address().resolve(path);
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(target)
              .timeout(LIMIT)
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  private List<String> lines(String name) throws IOException {
    Path file = root.resolve(name);
    return Files.exists(file) ? Files.readAllLines(file) : List.of();
  }

  /**
   * Counts its runs, and asks its model once; the shell itself speaks HTTP, so that no other
   * program is needed.
   */
  private Path agent() throws IOException {
    Path program = root.resolve("agent.sh");
    Files.writeString(
        program,
        """
        #!/bin/bash
        prompt=$(cat)
        echo "$BBS_TURN_ID" >> '%1$s/runs'
        echo "$OPENAI_API_KEY" > '%1$s/key'
        tr '\\0' ' ' < /proc/$$/cmdline > '%1$s/argv'
        base=${OPENAI_BASE_URL#http://}
        authority=${base%%%%/*}
        body='{"model":"m","messages":[{"role":"user","content":"'"$prompt"'"}]}'
        exec 3<> "/dev/tcp/${authority%%%%:*}/${authority##*:}"
        printf 'POST /%%s/chat/completions HTTP/1.1\\r\\nHost: %%s\\r\\nAuthorization: Bearer %%s\\r\\nContent-Type: application/json\\r\\nContent-Length: %%d\\r\\nConnection: close\\r\\n\\r\\n%%s' \
          "${base#*/}" "$authority" "$OPENAI_API_KEY" "${#body}" "$body" >&3
        answer=$(cat <&3)
        answer=${answer##*\\"content\\":\\"}
        echo "${answer%%%%\\"*}"
        """
            .formatted(root));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return program;
  }
}
