package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.proxy.CallSink;
import dev.blackbox.proxy.CaptureConfig;
import dev.blackbox.proxy.CaptureDecision;
import dev.blackbox.proxy.CapturedCalls;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.ProxyBinding;
import dev.blackbox.proxy.ProxyConfig;
import dev.blackbox.proxy.ProxyOptions;
import dev.blackbox.proxy.TurnScope;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bodies of model calls: of a whole server, and on a disk that is small and gets full. */
@Timeout(300)
class CaptureOfAServerTest {

  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final String TOKEN = "token-of-the-server-17";
  private static final String ENGINE_KEY = "sk-key-of-an-engine/42";

  @TempDir private Path root;
  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void whatTheServerKnowsForASecretIsNotKeptAndTheLedgerLeadsToTheRest() throws Exception {
    Step answer = Step.text("so " + ENGINE_KEY + " and " + TOKEN + " it is").withChunkCharacters(3);
    try (ScriptedEngine engine = ScriptedEngine.start(0, EngineScript.always(answer));
        ServerProcess server = server()) {
      server.awaitReady(LIMIT);
      assertThat(post(server, "/v1/rollout/register", registration(engine))).isEqualTo(200);
      String prompt =
          Json.write(
              Map.of(
                  "model",
                  "m",
                  "stream",
                  true,
                  "messages",
                  List.of(
                      Map.of("role", "user", "content", "env: " + ENGINE_KEY + " and " + TOKEN))));
      assertThat(post(server, "/v1/sessions/s1/messages", turn(prompt))).isEqualTo(200);
      server.terminate();
      assertThat(server.awaitEnd(LIMIT)).isZero();
    }
    String state = root.resolve("state").toString();
    Printed timeline = Printed.by("timeline", "--state-dir", state);
    String end =
        timeline.out().lines().filter(line -> line.contains(" call_ended ")).findFirst().get();
    assertThat(end).contains("verdict=ok", "capture=wanted");
    String id = end.replaceFirst(".* call_id=(\\S+) .*", "$1");
    Printed bodies = Printed.by("calls", "--body", id, "--state-dir", state);
    assertThat(bodies.code()).isEqualTo(ExitCode.OK);
    assertThat(bodies.out())
        .contains("\"call_id\":\"" + id + "\"", "env: [redacted] and [redacted]", "data: [DONE]")
        .contains("\"request_redactions\":2")
        .doesNotContain(ENGINE_KEY, TOKEN, "sk-", "ken-");
  }

  @Test
  void withoutADirectoryForThemAStartIsRefusedAndNoPortIsBlamed() throws Exception {
    Path file = Files.createDirectory(root.resolve("state")).resolve("captures");
    Files.writeString(file, "a file in its place");
    try (ServerProcess server = server()) {
      assertThat(server.awaitEnd(LIMIT)).isEqualTo(ExitCode.NOT_WRITABLE.number());
    }
    assertThat(Files.readString(root.resolve("server.log")))
        .contains("bodies of model calls cannot be kept in " + file)
        .doesNotContain("port");
  }

  private ServerProcess server() throws IOException {
    Path token = Files.writeString(root.resolve("token"), TOKEN + "\n");
    return ServerProcess.start(
        Main.class,
        List.of(
            "--port=0",
            "--capture=all",
            "--api-token-file=" + token,
            "--state-dir=" + root.resolve("state"),
            "--runtime-root=" + root.resolve("runtime"),
            "--script-agent=" + agent()),
        Map.of("SOME_ENGINE_API_KEY", ENGINE_KEY),
        root.resolve("server.log"));
  }

  /** Asks the model with what it is asked. */
  private Path agent() throws IOException {
    Path program = root.resolve("agent.sh");
    Files.writeString(
        program,
        """
        #!/bin/bash
        base=${OPENAI_BASE_URL#http://}
        authority=${base%%/*}
        body=$(cat)
        exec 3<> "/dev/tcp/${authority%%:*}/${authority##*:}"
        printf 'POST /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer %s\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s' \
          "$OPENAI_API_KEY" "${#body}" "$body" >&3
        [[ $(cat <&3) == *'[DONE]'* ]] && echo well
        """);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return program;
  }

  private static Map<String, Object> registration(ScriptedEngine engine) {
    return Map.of(
        "blackbox_type",
        "script",
        "router",
        engine.origin() + "/v1",
        "bound_session_id",
        "s1",
        "bound_instance_id",
        "i1");
  }

  private static Map<String, Object> turn(String prompt) {
    return Map.of("turn_id", "t1", "messages", List.of(Map.of("role", "user", "content", prompt)));
  }

  private int post(ServerProcess server, String path, Map<String, Object> body)
      throws IOException, InterruptedException {
    return post(server.address().resolve(path), TOKEN, Json.write(body));
  }

  private int post(URI to, String bearer, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(to)
            .timeout(LIMIT)
            .header("Authorization", "Bearer " + bearer)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
  }

  /** Keeps what it is told of ends. */
  private static final class Ends implements CallSink {
    private final BlockingQueue<CallEnded> ends = new LinkedBlockingQueue<>();

    @Override
    public void started(CallStarted call) {}

    @Override
    public void ended(CallEnded call) {
      ends.add(call);
    }

    @Override
    public void refused(CallRefused call) {}

    CallEnded next() throws InterruptedException {
      CallEnded end = ends.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(end).isNotNull();
      return end;
    }
  }

  /** Two megabytes, of which bodies may take all but one half, by a limit beyond it. */
  @Test
  void onASmallDiskTheOldestGoTheLedgersRoomStaysAndCallsGoWellWhateverIsFull() throws Exception {
    Path place = Files.createDirectory(root.resolve("disk"));
    Ends ends = new Ends();
    try (SmallDisk small = SmallDisk.make(place, 2);
        ScriptedEngine engine =
            ScriptedEngine.start(0, EngineScript.always(Step.text("an answer")))) {
      Path captures = small.seen().resolve("state/captures");
      CaptureConfig config =
          new CaptureConfig(
              CaptureConfig.Mode.ALL, captures, 64L << 20, 1 << 20, 8 << 20, 512L << 10);
      ProxyConfig proxied = ProxyConfig.DEFAULTS.withCapture(config);
      try (ModelProxy proxy = ModelProxy.start(proxied, ends, InstantSource.system());
          TurnScope _ = opened(proxy, engine)) {
        small.fill();
        call(proxy, ends, 0);
      }
      assertThat(CapturedCalls.heads(captures)).isEmpty();
      small.free();
      try (ModelProxy proxy = ModelProxy.start(proxied, ends, InstantSource.system());
          TurnScope _ = opened(proxy, engine)) {
        String first = call(proxy, ends, 1);
        String last = "";
        for (int each = 2; each <= 30; each++) {
          last = call(proxy, ends, each);
        }
        awaitKept(captures, last);
        assertThat(captures.toFile().getUsableSpace()).isGreaterThanOrEqualTo(512L << 10);
        assertThat(CapturedCalls.heads(captures)).hasSizeBetween(8, 29);
        assertThat(CapturedCalls.tale(captures, first).orElseThrow())
            .startsWith("were kept, and deleted at ");
        assertThat(CapturedCalls.dropped(captures)).isZero();

        // Somebody else takes what was left for the ledger: it is given back.
        small.fill();
        last = call(proxy, ends, 31);
        awaitKept(captures, last);
        assertThat(captures.toFile().getUsableSpace()).isGreaterThanOrEqualTo(512L << 10);
      }
    }
  }

  private static TurnScope opened(ModelProxy proxy, ScriptedEngine engine) {
    proxy.bind(binding(engine));
    return proxy.openTurn(new TurnKey(1, TurnId.parse("t1")), Map.of());
  }

  private static void awaitKept(Path captures, String callId) {
    await().atMost(LIMIT).until(() -> Files.exists(captures.resolve(callId + ".call.gz")));
  }

  private static ProxyBinding binding(ScriptedEngine engine) {
    return new ProxyBinding(
        SessionId.parse("s1"),
        InstanceId.parse("i1"),
        Optional.empty(),
        engine.origin(),
        "/v1",
        Secret.of("key-of-the-agent"),
        ProxyOptions.DEFAULTS);
  }

  /** With 100 KB that do not compress; its record says that bodies were to be kept. */
  private String call(ModelProxy proxy, Ends ends, int number) throws Exception {
    byte[] noise = new byte[75_000];
    new Random(number).nextBytes(noise);
    String body =
        Json.write(
            Map.of(
                "model",
                "m",
                "messages",
                List.of(
                    Map.of("role", "user", "content", Base64.getEncoder().encodeToString(noise)))));
    URI to = URI.create("http://127.0.0.1:" + proxy.port() + "/v1/chat/completions");
    assertThat(post(to, "key-of-the-agent", body)).isEqualTo(200);
    CallSink.CallEnded end = ends.next();
    assertThat(end.verdict()).isEqualTo("ok");
    assertThat(end.capture()).isEqualTo(CaptureDecision.WANTED);
    return end.callId();
  }
}
