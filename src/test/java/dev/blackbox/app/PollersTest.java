package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.blackbox.app.ServerClient.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * 200 clients poll with {@code wait=30} while 50 others submit, cancel and read. Each answer has a
 * bound: of a poll the end of its turn or of its wait, of everything else the moment of its
 * request. None may come more than 250 ms after it. This machine may be busy with other things:
 * what the same kind of client needs, at the same time, to call a server that does nothing is
 * allowed on top. The figures are printed.
 */
@Timeout(180)
class PollersTest {

  private static final int POLLERS = 200;
  private static final int OTHERS = 50;
  private static final Duration RUN = Duration.ofSeconds(12);
  private static final double LATE_MILLIS_MAX = 250;

  /** A request passes from thread to thread more often here than in a server that does nothing. */
  private static final int STRAINED_FACTOR = 3;

  /** Live bytes that the second half of the run may add. */
  private static final long GROWTH_BYTES_MAX = 8L << 20;

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String SESSION = "/v1/sessions/s1";

  @TempDir Path root;

  private final Late polls = new Late("polls");
  private final Late shortPolls = new Late("polls with wait=0.5");
  private final Late others = new Late("submissions, cancels and reads");
  private final Late nothing = new Late("calls of a server that does nothing");
  private final AtomicInteger newest = new AtomicInteger();
  private ServerProcess server;
  private HttpServer idle;

  /** What was asked earlier may have waited for the collection of {@link #liveBytes}. */
  private volatile Instant counted = Instant.MAX;

  private volatile boolean over;

  /** How long after their bounds answers came, in milliseconds. */
  private static final class Late {
    private final String what;
    private final List<Double> millis = Collections.synchronizedList(new ArrayList<>());

    Late(String what) {
      this.what = what;
    }

    void add(double late) {
      millis.add(late);
    }

    int count() {
      return millis.size();
    }

    double max() {
      return List.copyOf(millis).stream().mapToDouble(each -> each).max().orElse(0);
    }

    @Override
    public String toString() {
      Samples samples = new Samples();
      List.copyOf(millis).forEach(samples::add);
      return count() == 0
          ? what + ": none"
          : "%s: %d, late by %.0f ms (p50), %.0f ms (p99), %.0f ms (most)"
              .formatted(what, count(), samples.p50(), samples.p99(), max());
    }
  }

  @BeforeEach
  void start() throws Exception {
    Path agent =
        Files.writeString(root.resolve("agent"), "#!/bin/sh\ncat >/dev/null\nsleep 1\necho done\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    server =
        ServerProcess.start(
            List.of("--port=0"),
            Map.of(
                "BBS_RUNTIME_ROOT",
                root.resolve("rt").toString(),
                "BBS_SCRIPT_AGENT",
                agent.toString(),
                "BBS_MAX_TURNS",
                "100000"),
            root.resolve("log"));
    server.awaitReady(LIMIT);
    idle = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    idle.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    byte[] answer = "{}".getBytes(StandardCharsets.UTF_8);
    idle.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    idle.start();
  }

  @AfterEach
  void end() {
    idle.stop(0);
    server.close();
  }

  @Test
  void noAnswerIsLateAndMemoryStaysFlat() throws Exception {
    List<Future<?>> clients = new ArrayList<>();
    long before;
    long after;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        ServerClient client = new ServerClient(server.address(), LIMIT);
        ServerClient idleClient =
            new ServerClient(
                URI.create("http://127.0.0.1:" + idle.getAddress().getPort()), LIMIT)) {
      assertThat(client.post("/v1/rollout/register", REGISTRATION).status()).isEqualTo(200);
      // Not in the figures: the first answers of a young process.
      for (int each = 0; each < 200; each++) {
        assertThat(client.get("/v1/status").status()).isEqualTo(200);
      }
      submit(client);
      for (int each = 0; each < POLLERS; each++) {
        clients.add(threads.submit(() -> repeat(() -> poll(client))));
      }
      for (int each = 0; each < OTHERS; each++) {
        SplittableRandom random = new SplittableRandom(each);
        clients.add(threads.submit(() -> repeat(() -> other(client, random))));
      }
      clients.add(threads.submit(() -> repeat(() -> callNothing(idleClient))));
      TimeUnit.MILLISECONDS.sleep(RUN.toMillis() / 3);
      before = liveBytes();
      counted = Instant.now();
      TimeUnit.MILLISECONDS.sleep(RUN.toMillis() * 2 / 3);
      over = true;
      for (Future<?> each : clients) {
        each.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      }
      after = liveBytes();
    }
    System.out.printf(
        "%s%n%s%n%s%n%s%nturns: %d, live heap %.1f MB, then %.1f MB, resident %.0f MB%n",
        polls,
        shortPolls,
        others,
        nothing,
        newest.get(),
        before / 1e6,
        after / 1e6,
        new ProcessFigures(server.pid()).residentMegabytes());
    assertThat(polls.count()).isGreaterThan(POLLERS);
    assertThat(others.count()).isGreaterThan(OTHERS);
    double bound = LATE_MILLIS_MAX + STRAINED_FACTOR * nothing.max();
    for (Late late : List.of(polls, shortPolls, others)) {
      assertThat(late.max()).as("%s", late).isLessThan(bound);
    }
    assertThat(after - before).isLessThan(GROWTH_BYTES_MAX);
  }

  private interface Step {
    void run() throws Exception;
  }

  private Void repeat(Step step) throws Exception {
    while (!over) {
      step.run();
    }
    return null;
  }

  /** Of a turn that ends its poll the bound is its own last moment, by the same clock. */
  private void poll(ServerClient client) throws Exception {
    int turn = newest.get();
    Instant begin = Instant.now();
    Answer answer = client.get(SESSION + "/turns/t" + turn + "?wait=30");
    Instant end = Instant.now();
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(answer.field("status")).isIn("committed", "cancelled");
    Instant settled = Instant.parse(answer.field("updated_at"));
    add(polls, begin, settled.isAfter(begin) ? settled : begin, end);
    while (!over && newest.get() == turn) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private void other(ServerClient client, SplittableRandom random) throws Exception {
    String turn = SESSION + "/turns/t" + newest.get();
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> timed(() -> submit(client));
      case 4 ->
          timed(() -> assertThat(client.post(turn + "/cancel", Map.of()).status()).isEqualTo(200));
      case 5, 6, 7 -> timed(() -> assertThat(client.get(SESSION).status()).isEqualTo(200));
      case 8, 9 -> timed(() -> assertThat(client.get("/v1/status").status()).isEqualTo(200));
      case 10 -> pollShortly(client, turn);
      default -> timed(() -> assertThat(client.get(turn).status()).isEqualTo(200));
    }
    TimeUnit.MILLISECONDS.sleep(100 + random.nextInt(300));
  }

  /** Somebody else's turn may run: then it is refused. */
  private void submit(ServerClient client) throws Exception {
    int next = newest.get() + 1;
    Answer answer =
        client.post(
            SESSION + "/messages",
            Map.of(
                "turn_id",
                "t" + next,
                "mode",
                "async",
                "messages",
                List.of(Map.of("role", "user", "content", "work"))));
    assertThat(answer.status()).as(answer.text()).isIn(202, 409);
    if (answer.status() == 202) {
      newest.accumulateAndGet(next, Math::max);
    }
  }

  private void timed(Step step) throws Exception {
    Instant begin = Instant.now();
    step.run();
    add(others, begin, begin, Instant.now());
  }

  private void pollShortly(ServerClient client, String turn) throws Exception {
    Instant begin = Instant.now();
    Answer answer = client.get(turn + "?wait=0.5");
    Instant end = Instant.now();
    assertThat(answer.status()).isEqualTo(200);
    Instant bound = begin.plusMillis(500);
    Instant settled = Instant.parse(answer.field("updated_at"));
    boolean active = List.of("queued", "inflight").contains(answer.field("status"));
    if (!active && settled.isBefore(bound)) {
      bound = settled.isAfter(begin) ? settled : begin;
    }
    add(shortPolls, begin, bound, end);
  }

  private void callNothing(ServerClient client) throws Exception {
    Instant begin = Instant.now();
    assertThat(client.get("/").status()).isEqualTo(200);
    add(nothing, begin, begin, Instant.now());
    TimeUnit.MILLISECONDS.sleep(5);
  }

  private void add(Late late, Instant asked, Instant bound, Instant answered) {
    if (asked.isAfter(counted)) {
      late.add(Duration.between(bound, answered).toNanos() / 1e6);
    }
  }

  /** After a full collection, as the server itself counts. */
  private long liveBytes() throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process process =
        new ProcessBuilder(jcmd.toString(), "" + server.pid(), "GC.class_histogram").start();
    String last = "";
    for (String line : (Iterable<String>) process.inputReader().lines()::iterator) {
      last = line.startsWith("Total") ? line : last;
    }
    assertThat(process.waitFor()).isZero();
    return Long.parseLong(last.strip().split("\\s+")[2]);
  }

  private static final Map<String, String> REGISTRATION =
      Map.of(
          "blackbox_type", "script",
          "router", "http://127.0.0.1:9",
          "bound_session_id", "s1",
          "bound_instance_id", "i1");
}
