package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.ledger.CrashRig;
import dev.blackbox.ledger.CrashTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real server process is killed with SIGKILL at each point of a turn's life, started again, and
 * asked again. The agent is a real program that adds a line to a file each time it runs; that file
 * is the count.
 */
@CrashRig
@Timeout(300)
class KillPointsTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Where the server is stopped, and what must be true after the next start. */
  enum Point {
    BEFORE_THE_QUEUED_ROW_COMMITS("before:admit", "hello", "committed", 1),
    AFTER_THE_QUEUED_ROW_COMMITTED("after:admit", "hello", "committed", 1),
    AFTER_INFLIGHT_BEFORE_THE_PROMPT("after:start", "hello", "unknown", 0),
    WHILE_THE_AGENT_WORKS("while:agent", "hang", "unknown", 1),
    AFTER_THE_ANSWER_BEFORE_ITS_COMMIT("before:settle", "hello", "unknown", 1),
    AFTER_ITS_COMMIT_BEFORE_THE_ANSWER("after:settle", "hello", "committed", 1);

    private final String stopAt;
    private final String prompt;
    private final String stateAfterwards;
    private final int runs;

    Point(String stopAt, String prompt, String stateAfterwards, int runs) {
      this.stopAt = stopAt;
      this.prompt = prompt;
      this.stateAfterwards = stateAfterwards;
      this.runs = runs;
    }
  }

  @TempDir Path root;

  /** Each successor is the victim of the next point. */
  @Test
  void p1ToP7HoldAfterAKillAtEachPoint() throws Exception {
    Deque<Point> points = new ArrayDeque<>(List.of(Point.values()));
    CrashTable table = new CrashTable("server killed at points of a turn");
    ServerProcess server = start(points.getFirst());
    try {
      while (!points.isEmpty()) {
        Point point = points.removeFirst();
        int runsBefore = runs().size();
        List<ProcessHandle> left = killedAt(point, server);
        server = points.isEmpty() ? start(Main.class, Map.of()) : start(points.getFirst());
        assertThat(left)
            .as("processes of the boot before %s, at readiness (P7)", point)
            .noneMatch(KillPointsTest::runs);
        try (ServerClient client = client(server)) {
          assertKept(point, client, runsBefore);
        }
        table.kill();
      }
    } finally {
      server.close();
    }
    assertHistoryIsWhole();
    table.print();
  }

  private List<ProcessHandle> killedAt(Point point, ServerProcess server) throws Exception {
    try (ServerClient client = client(server)) {
      assertThat(client.post("/v1/rollout/register", registration(point)).status()).isEqualTo(200);
      Files.createFile(StoppingServer.armed(stopped(point)));
      CompletableFuture<Boolean> answered = submit(client, point);
      Path reached =
          point == Point.WHILE_THE_AGENT_WORKS ? root.resolve("hanging") : stopped(point);
      await().atMost(LIMIT).until(() -> Files.exists(reached));
      List<ProcessHandle> left = server.descendants();
      server.kill();
      assertThat(answered.join()).as("told before it was recorded (P1), %s", point).isFalse();
      return left;
    }
  }

  private void assertKept(Point point, ServerClient client, int runsBefore) throws Exception {
    await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 200);
    Answer registered = client.post("/v1/rollout/register", registration(point));
    assertThat(registered.status()).isEqualTo(200);
    String messages = "/v1/sessions/" + session(point) + "/messages";
    Answer first = client.post(messages, turn(point));
    Answer again = client.post(messages, turn(point));
    assertThat(withoutRequestId(again))
        .as("replays are equal (P3), %s", point)
        .isEqualTo(withoutRequestId(first));
    assertThat(client.get("/v1/sessions/" + session(point) + "/turns/t1").field("status"))
        .as("%s", point)
        .isEqualTo(point.stateAfterwards);
    assertThat(first.status()).isEqualTo(point.stateAfterwards.equals("committed") ? 200 : 502);
    assertThat(runs().size() - runsBefore)
        .as("runs of the agent (P2), %s", point)
        .isEqualTo(point.runs);
    assertLaterTurns(client, point);
    // The next point has a session of its own.
    assertThat(client.post("/v1/sessions/" + session(point) + "/abort", Map.of()).status())
        .isEqualTo(200);
  }

  private static String session(Point point) {
    return point.name();
  }

  private Path stopped(Point point) {
    return root.resolve("stopped-" + point);
  }

  private static Map<String, Object> turn(Point point) {
    return Map.of(
        "turn_id", "t1", "messages", List.of(Map.of("role", "user", "content", point.prompt)));
  }

  private ServerProcess start(Point point) throws IOException, InterruptedException {
    return start(
        StoppingServer.class,
        Map.of("STOP_AT", point.stopAt, "STOP_FILE", stopped(point).toString()));
  }

  /**
   * Not a zombie: some machines' first process does not reap orphans, which are dead all the same.
   */
  static boolean runs(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc", String.valueOf(process.pid()), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException gone) {
      return false;
    }
  }

  /** After an unknown turn the session takes no more (P6); after an answered one it goes on. */
  private void assertLaterTurns(ServerClient client, Point point) throws InterruptedException {
    Answer later =
        client.post(
            "/v1/sessions/" + session(point) + "/messages",
            Map.of(
                "turn_id", "t2", "messages", List.of(Map.of("role", "user", "content", "more"))));
    assertThat(later.status()).isEqualTo(point.stateAfterwards.equals("committed") ? 200 : 409);
  }

  private void assertHistoryIsWhole() {
    int exitCode =
        Main.run(
            new String[] {"ledger", "check", "--state-dir", root.resolve("rt/state").toString()},
            configuration -> {
              throw new IllegalStateException("a check opens no server: " + configuration);
            },
            System.err);
    assertThat(exitCode).as("ledger check (P11)").isZero();
  }

  /** True if an answer came; false if the connection broke. */
  private static CompletableFuture<Boolean> submit(ServerClient client, Point point) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            String path = "/v1/sessions/" + session(point) + "/messages";
            return client.post(path, turn(point)).status() > 0;
          } catch (UncheckedIOException broken) {
            return false;
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
          }
        },
        command -> Thread.ofVirtual().start(command));
  }

  private ServerProcess start(Class<?> main, Map<String, String> more)
      throws IOException, InterruptedException {
    Map<String, String> environment = new java.util.HashMap<>(more);
    environment.put("BBS_SCRIPT_AGENT", agent().toString());
    environment.put("BBS_RUNTIME_ROOT", root.resolve("rt").toString());
    ServerProcess server =
        ServerProcess.start(main, List.of("--port=0"), environment, root.resolve("server.log"));
    server.awaitReady(LIMIT);
    return server;
  }

  private static ServerClient client(ServerProcess server) {
    return new ServerClient(server.address(), LIMIT);
  }

  private Path agent() throws IOException {
    Path program = root.resolve("agent.sh");
    if (!Files.exists(program)) {
      Files.writeString(
          program,
          """
          #!/bin/sh
          prompt=$(cat)
          case $prompt in
            more) ;;
            *) echo run >> '%1$s/runs' ;;
          esac
          if [ "$prompt" = hang ]; then
            sleep 300 &
            : > '%1$s/hanging'
            sleep 300
          fi
          echo "heard $prompt"
          """
              .formatted(root));
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    return program;
  }

  private List<String> runs() throws IOException {
    Path file = root.resolve("runs");
    if (!Files.exists(file)) {
      return List.of();
    }
    try (Stream<String> lines = Files.lines(file)) {
      return lines.toList();
    }
  }

  private static Map<String, @Nullable Object> registration(Point point) {
    return Map.of(
        "blackbox_type",
        "script",
        "router",
        "http://127.0.0.1:9",
        "bound_session_id",
        session(point),
        "bound_instance_id",
        "i1");
  }

  /** What must be equal in every replay: all but the request's own name and the replay flag. */
  private static String withoutRequestId(Answer answer) {
    return answer.status()
        + answer
            .text()
            .replaceFirst("\"request_id\":\"[^\"]*\"", "")
            .replaceFirst("\"idempotent_replay\":(true|false)", "");
  }
}
