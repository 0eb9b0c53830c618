package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.Closer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The figures of docs/performance.md: {@code mvn -Pbench verify}. The server is a process of its
 * own, started through the launcher; its agent is a shell script that answers at once. What model
 * calls cost is {@link ProxyBench}'s.
 */
@Tag("bench")
class BenchTest {

  private static final Duration READY_LIMIT = Duration.ofMinutes(1);
  private static final Duration CALL_LIMIT = Duration.ofMinutes(5);
  private static final int STARTS = 5;

  /**
   * {@code -Dbench.percent=20} does a fifth of everything, for a quick look; figures are of 100.
   */
  private static final int PERCENT = Integer.getInteger("bench.percent", 100);

  private static final int TURNS = 200 * PERCENT / 100;
  private static final int TURNS_MANY = PERCENT < 100 ? TURNS : 3_000;
  private static final int REPLAYS = 3_000 * PERCENT / 100;
  private static final String SESSION = "bench-session";
  private static final String MESSAGES = "/v1/sessions/" + SESSION + "/messages";

  private static final List<String> TABLE = new ArrayList<>();

  @TempDir private Path directory;
  private final Closer closer = new Closer();
  private int turn;

  @BeforeEach
  void writeAgent() throws IOException {
    Path agent =
        Files.writeString(
            directory.resolve("agent.sh"), "#!/bin/sh\nread -r _ || true\necho done\n");
    assertThat(agent.toFile().setExecutable(true)).isTrue();
  }

  @AfterEach
  void endWhatWasStarted() {
    closer.close();
  }

  @AfterAll
  static void printTable() {
    System.out.println("\n| Figure | Measured | Raw limit in the same run |\n|---|---|---|");
    TABLE.forEach(System.out::println);
  }

  @Test
  void startAndMemoryAndTurns() throws Exception {
    Samples wall = new Samples();
    Samples cpu = new Samples();
    for (int i = 0; i < STARTS; i++) {
      long started = System.nanoTime();
      ServerProcess server = server();
      server.awaitReady(READY_LIMIT);
      wall.add((System.nanoTime() - started) / 1e6);
      cpu.add(figures(server).cpuSeconds() * 1000);
      server.terminate();
      assertThat(server.awaitEnd(READY_LIMIT)).isZero();
    }
    row("start to ready, CPU, median of " + STARTS, ms(cpu.p50()), "");
    row("start to ready, wall, median of " + STARTS, ms(wall.p50()), "");

    ServerProcess server = server();
    server.awaitReady(READY_LIMIT);
    row("resident memory, idle", megabytes(server), "");
    ServerClient client = client(server);
    register(client);
    Samples turns = new Samples();
    double before = figures(server).cpuSeconds();
    for (int i = 0; i < TURNS; i++) {
      turns.time(() -> committed(client, "nothing"));
    }
    row("synchronous turn without a model call, CPU", cpuEach(server, before, TURNS), "");
    Samples agent = new Samples();
    for (int i = 0; i < 20; i++) {
      agent.time(this::runAgentAlone);
    }
    row(
        "synchronous turn without a model call, p50",
        ms(turns.p50()),
        ms(agent.p50()) + " the agent's process alone");
    row("resident memory after " + TURNS + " turns", megabytes(server), "");
    for (int done = TURNS; done < TURNS_MANY; done++) {
      committed(client, "nothing");
      if ((done + 1) % 1_000 == 0) {
        row("resident memory after " + (done + 1) + " turns", megabytes(server), "");
      }
    }
  }

  @Test
  void replaysAndPolls() throws Exception {
    ServerProcess server = server();
    server.awaitReady(READY_LIMIT);
    ServerClient client = client(server);
    register(client);
    Map<String, Object> request = request("nothing", "sync");
    assertThat(client.post(MESSAGES, request).status()).isEqualTo(200);
    for (int i = 0; i < REPLAYS; i++) {
      client.post(MESSAGES, request);
    }

    double before = figures(server).cpuSeconds();
    Samples replays = new Samples();
    for (int i = 0; i < REPLAYS; i++) {
      replays.time(
          () ->
              assertThat(client.post(MESSAGES, request).field("idempotent_replay"))
                  .isEqualTo("true"));
    }
    row("replay of a committed turn, CPU", cpuEach(server, before, REPLAYS), "");
    row("replay of a committed turn, p50", ms(replays.p50()), "");

    before = figures(server).cpuSeconds();
    Samples polls = new Samples();
    String path = "/v1/sessions/" + SESSION + "/turns/" + request.get("turn_id");
    for (int i = 0; i < REPLAYS; i++) {
      polls.time(() -> assertThat(client.get(path).status()).isEqualTo(200));
    }
    row("poll of a committed turn, CPU", cpuEach(server, before, REPLAYS), "");
    row("poll of a committed turn, p50", ms(polls.p50()), "");

    Samples health = new Samples();
    for (int i = 0; i < REPLAYS; i++) {
      health.time(() -> client.get("/livez"));
    }
    row("request that does nothing (/livez), p50", ms(health.p50()), "");
  }

  @Test
  void durableSubmits() throws Exception {
    ServerProcess server = server();
    server.awaitReady(READY_LIMIT);
    ServerClient client = client(server);
    register(client);
    Samples submits = new Samples();
    Samples appends = new Samples();
    ByteBuffer block = ByteBuffer.allocateDirect(512);
    try (FileChannel raw =
        FileChannel.open(
            directory.resolve("raw"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (int i = 0; i < TURNS; i++) {
        Map<String, Object> request = request("nothing", "async");
        submits.time(() -> assertThat(client.post(MESSAGES, request).status()).isEqualTo(202));
        String path = "/v1/sessions/" + SESSION + "/turns/" + request.get("turn_id") + "?wait=30";
        assertThat(client.get(path).field("status")).isEqualTo("committed");
        appends.time(
            () -> {
              raw.write(block.clear());
              raw.force(false);
            });
      }
    }
    row(
        "async submit with the forced journal, p50",
        ms(submits.p50()),
        ms(appends.p50()) + " one forced append");
    row("async submit with the forced journal, p99", ms(submits.p99()), ms(appends.p99()));
  }

  private ServerProcess server() {
    return closer.own(
        ServerProcess.start(
            List.of(
                "--port=0",
                "--max-turns=100000",
                "--runtime-root=" + directory.resolve("runtime"),
                "--script-agent=" + directory.resolve("agent.sh")),
            Map.of(),
            directory.resolve("server.log")));
  }

  private ServerClient client(ServerProcess server) {
    return closer.own(new ServerClient(server.address(), CALL_LIMIT));
  }

  private static void register(ServerClient client) throws Exception {
    ServerClient.Answer answer =
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type",
                "script",
                "router",
                // Nobody listens there: no turn here asks a model.
                "http://127.0.0.1:9/v1",
                "bound_session_id",
                SESSION,
                "bound_instance_id",
                "bench-instance"));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  private void committed(ServerClient client, String prompt) throws Exception {
    ServerClient.Answer answer = client.post(MESSAGES, request(prompt, "sync"));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  private Map<String, Object> request(String prompt, String mode) {
    return Map.of(
        "turn_id",
        "turn-" + ++turn,
        "mode",
        mode,
        "messages",
        List.of(Map.of("role", "user", "content", prompt)));
  }

  private void runAgentAlone() throws Exception {
    Process agent = new ProcessBuilder(directory.resolve("agent.sh").toString()).start();
    agent.getOutputStream().write("nothing".getBytes(StandardCharsets.UTF_8));
    agent.getOutputStream().close();
    agent.waitFor();
  }

  private static ProcessFigures figures(ServerProcess server) {
    return new ProcessFigures(server.pid());
  }

  private static String cpuEach(ServerProcess server, double before, int count) throws IOException {
    double micros = (figures(server).cpuSeconds() - before) * 1e6 / count;
    return micros < 1000 ? "%.0f µs".formatted(micros) : ms(micros / 1000);
  }

  private static String megabytes(ServerProcess server) throws IOException {
    return String.format(Locale.ROOT, "%.0f MB", figures(server).residentMegabytes());
  }

  private static String ms(double millis) {
    return String.format(Locale.ROOT, "%.2f ms", millis);
  }

  private static void row(String figure, String measured, String raw) {
    TABLE.add("| " + figure + " | " + measured + " | " + raw + " |");
  }
}
