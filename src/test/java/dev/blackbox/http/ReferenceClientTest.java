package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerProcess;
import dev.blackbox.http.CuttingRelay.Cut;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The reference's own client, as it behaves: it submits with one turn id, sync or async, again
 * after a broken connection or a 503, then polls with {@code wait=30} until the turn has settled.
 * Here the network resets its connections wherever that hurts. The agent runs once all the same,
 * and the client gets the answer that is stored.
 */
@Timeout(180)
class ReferenceClientTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String MESSAGES = "/v1/sessions/s1/messages";
  private static final String REGISTRATION =
      "{\"blackbox_type\":\"script\",\"router\":\"http://127.0.0.1:9\","
          + "\"bound_session_id\":\"s1\",\"bound_instance_id\":\"i1\"}";
  private static final Set<Object> ACTIVE = Set.of("queued", "inflight");
  private static final int ATTEMPTS_MAX = 30;

  @TempDir Path root;

  private ServerProcess server;
  private CuttingRelay relay;

  @BeforeEach
  void start() throws Exception {
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
    relay = new CuttingRelay(server.address().getPort());
  }

  @AfterEach
  void end() {
    relay.close();
    server.close();
  }

  /** Notes its runs, takes a moment, and fails if it is told to. */
  private Path agent() throws IOException {
    Path program = root.resolve("agent.sh");
    Files.writeString(
        program,
        """
        #!/bin/sh
        prompt=$(cat)
        echo "$prompt" >> '%s/runs'
        case $prompt in fail*) exit 3 ;; esac
        sleep 0.2
        echo "answer to $prompt, run $(wc -l < '%1$s/runs')"
        """
            .formatted(root));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return program;
  }

  /** What the client does, and what it sent in doing so. */
  private final class Client {
    final List<String> calls = new CopyOnWriteArrayList<>();
    private final String body;
    private final String turnId;

    Client(String turnId, String mode, String prompt) {
      this.turnId = turnId;
      this.body =
          "{\"messages\":[{\"role\":\"user\",\"content\":\""
              + prompt
              + "\"}],\"turn_id\":\""
              + turnId
              + "\",\"mode\":\""
              + mode
              + "\"}";
    }

    RawClient.Reply submit() throws Exception {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      return untilAnswered(
          "POST",
          DoorFixture.head("POST", MESSAGES, "application/json", bytes.length)
                  .replace("Host: t", "Host: localhost")
              + body);
    }

    RawClient.Reply poll() throws Exception {
      RawClient.Reply reply;
      do {
        reply =
            untilAnswered(
                "GET",
                "GET /v1/sessions/s1/turns/"
                    + turnId
                    + "?wait=30 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assertThat(reply.status()).isEqualTo(200);
      } while (ACTIVE.contains(reply.at("status")));
      return reply;
    }

    private RawClient.Reply untilAnswered(String name, String request) throws Exception {
      for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        calls.add(name);
        try (RawClient connection = new RawClient(relay.port())) {
          RawClient.Reply reply = connection.send(request).reply();
          if (reply.status() != 503) {
            return reply;
          }
          TimeUnit.SECONDS.sleep(Long.parseLong(reply.headers().get("retry-after")));
        } catch (IOException broken) {
          // The next attempt tells whether that did harm.
        }
      }
      throw new AssertionError("no answer after " + ATTEMPTS_MAX + " attempts");
    }
  }

  /** In the head of the request, in its body, after it, and in the head and body of the answer. */
  private static List<Cut> everywhere(String request, int answerBytes) {
    int head = request.indexOf("\r\n\r\n") + 4;
    return List.of(
        Cut.request(0),
        Cut.request(1),
        Cut.request(head - 1L),
        Cut.request(head),
        Cut.request(request.length() - 1L),
        Cut.request(request.length()),
        Cut.answer(1),
        Cut.answer(100),
        Cut.answer(answerBytes - 1L));
  }

  private static String aRequest() {
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"sync-0\"}],\"turn_id\":\"sync-0\",\"mode\":\"sync\"}";
    return DoorFixture.head("POST", MESSAGES, "application/json", body.length())
            .replace("Host: t", "Host: localhost")
        + body;
  }

  @Test
  void aSyncSubmissionIsRunOnceWhereverItsConnectionBreaks() throws Exception {
    register();
    List<Cut> cuts = everywhere(aRequest(), 500);
    for (int each = 0; each < cuts.size(); each++) {
      Client client = new Client("sync-" + each, "sync", "sync-" + each);
      relay.cut(cuts.subList(each, each + 1));
      RawClient.Reply answer = client.submit();
      assertThat(relay.isThrough()).isTrue();
      assertThat(client.calls).as("%s", cuts.get(each)).containsExactly("POST", "POST");
      assertRanOnceAndStored("sync-" + each, answer);
    }
    Client unlucky = new Client("sync-all", "sync", "sync-all");
    relay.cut(cuts);
    assertRanOnceAndStored("sync-all", unlucky.submit());
    assertThat(unlucky.calls).hasSize(cuts.size() + 1);
  }

  @Test
  void anAsyncSubmissionAndItsPollsGetTheOneAnswer() throws Exception {
    register();
    List<Cut> cuts = everywhere(aRequest(), 300);
    for (int each = 0; each < cuts.size(); each++) {
      Client client = new Client("async-" + each, "async", "async-" + each);
      relay.cut(cuts.subList(each, each + 1));
      RawClient.Reply accepted = client.submit();
      assertThat(accepted.status()).isEqualTo(202);
      relay.cut(List.of(Cut.request(10), Cut.answer(0), Cut.answer(200)));
      RawClient.Reply settled = client.poll();
      assertThat(client.calls)
          .as("%s", cuts.get(each))
          .containsExactly("POST", "POST", "GET", "GET", "GET", "GET");
      assertThat(settled.at("status")).isEqualTo("committed");
      assertThat(runs()).containsOnlyOnce("async-" + each);
      assertThat(client.submit().at("status")).isEqualTo("committed");
      Client late = new Client("async-" + each, "sync", "async-" + each);
      assertThat(late.submit().at("outputs")).isEqualTo(settled.at("outputs"));
    }
    assertThat(runs()).hasSize(cuts.size());
  }

  @Test
  void whileTheServerIsNotReadyTheClientComesBackAndAFailureIsTheSameEachTime() throws Exception {
    Client early = new Client("early", "sync", "early");
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<RawClient.Reply> answer = clients.submit(early::submit);
      Awaitility.await().atMost(LIMIT).until(() -> !early.calls.isEmpty());
      register();
      assertRanOnceAndStored("early", answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
    Client failing = new Client("failing", "async", "fail now");
    relay.cut(List.of(Cut.answer(50)));
    assertThat(failing.submit().status()).isEqualTo(202);
    RawClient.Reply settled = failing.poll();
    assertThat(settled.at("status")).isEqualTo("unknown");
    assertThat(settled.at("error"))
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
        .containsEntry("error", "backend_error")
        .containsEntry("http_status", 502)
        .containsKeys("message", "details");
    RawClient.Reply again = new Client("failing", "sync", "fail now").submit();
    assertThat(again.status()).isEqualTo(502);
    assertThat(again.at("error")).isEqualTo("backend_error");
    assertThat(runs()).containsExactly("early", "fail now");
  }

  private void register() throws IOException {
    try (RawClient client = new RawClient(server.address().getPort())) {
      byte[] bytes = REGISTRATION.getBytes(StandardCharsets.UTF_8);
      client.send(
          DoorFixture.head("POST", "/v1/rollout/register", "", bytes.length)
              .replace("Host: t", "Host: localhost"));
      assertThat(client.send(bytes).reply().status()).isEqualTo(200);
    }
  }

  /** And every later answer is this one, byte for byte, but for what names the request. */
  private void assertRanOnceAndStored(String turn, RawClient.Reply answer) throws Exception {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(Json.write(answer.at("outputs"))).contains("answer to " + turn);
    assertThat(runs()).containsOnlyOnce(turn);
    RawClient.Reply replay = new Client(turn, "sync", turn).submit();
    assertThat(replay.at("idempotent_replay")).isEqualTo(true);
    assertThat(stored(replay)).isEqualTo(stored(answer));
  }

  private static String stored(RawClient.Reply reply) {
    return reply
        .body()
        .replaceFirst("\"request_id\":\"[^\"]*\"", "")
        .replaceFirst("\"idempotent_replay\":(true|false)", "");
  }

  private List<String> runs() throws IOException {
    return Files.readAllLines(root.resolve("runs"));
  }
}
