package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.Closer;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the model proxy costs, against direct calls in the same run: {@code mvn -Pbench verify
 * -Dtest=ProxyBench}. The server is a process of its own with a turn that stays open; engine and
 * agents are in this process, and cost as little as they can.
 */
@Tag("bench")
@Timeout(1200)
class ProxyBench {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int PERCENT = Integer.getInteger("bench.percent", 100);
  private static final int CALLS = 2_000 * PERCENT / 100;
  private static final int LARGE_CALLS = 300 * PERCENT / 100;
  private static final int CLIENTS = 16;
  private static final int STREAMS = 100;
  private static final int EVENTS = 200 * PERCENT / 100;
  private static final int EVENTS_UNPACED = 20_000 * PERCENT / 100;
  private static final int STREAMS_UNPACED = 4;
  private static final int STREAMS_MANY = 1_000;
  private static final int TOOLS = 15;

  /** The agent: says where its model is, and stays until it is told to go. */
  private static final String AGENT =
      """
      #!/bin/sh
      set -eu
      read -r _ || true
      mkfifo '@HERE@/go'
      printf '%s %s' "$OPENAI_BASE_URL" "$OPENAI_API_KEY" >'@HERE@/model.part'
      mv '@HERE@/model.part' '@HERE@/model'
      read -r _ <'@HERE@/go' || true
      echo done
      """;

  private enum Tongue {
    CHAT("/v1/chat/completions"),
    ANTHROPIC("/v1/messages"),
    RESPONSES("/v1/responses");

    private final String path;

    Tongue(String path) {
      this.path = path;
    }

    /**
     * A request.
     *
     * @param model tells {@link BenchEngine} what to answer
     * @param textBytes of the one message, about
     */
    String body(String model, int textBytes, int tools) {
      String text = "All work and no play. ".repeat(1 + textBytes / 22);
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("model", model);
      body.put("stream", model.startsWith("stream"));
      if (this == RESPONSES) {
        body.put("input", text);
      } else {
        body.put("max_tokens", 99);
        body.put("messages", List.of(Map.of("role", "user", "content", text)));
      }
      if (tools > 0) {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < tools; i++) {
          all.add(tool("tool_" + i));
        }
        body.put("tools", all);
      }
      return Json.write(body);
    }

    private Map<String, Object> tool(String name) {
      Map<String, Object> schema =
          Map.of(
              "type",
              "object",
              "properties",
              Map.of(
                  "path", Map.of("type", "string", "description", "Which file. ".repeat(20)),
                  "lines", Map.of("type", "array", "items", Map.of("type", "integer"))),
              "required",
              List.of("path"));
      String described = "Does what its name says, and nothing else. ".repeat(20);
      return switch (this) {
        case CHAT ->
            Map.of(
                "type",
                "function",
                "function",
                Map.of("name", name, "description", described, "parameters", schema));
        case ANTHROPIC -> Map.of("name", name, "description", described, "input_schema", schema);
        case RESPONSES ->
            Map.of(
                "type",
                "function",
                "name",
                name,
                "description",
                described,
                "parameters",
                schema,
                "strict",
                false);
      };
    }
  }

  private static final List<String> TABLE = new ArrayList<>();

  /** A way to the engine, and the process that it costs. */
  private record Way(int port, String key, ProcessFigures figures) {}

  @TempDir private Path directory;
  private final Closer closer = new Closer();
  private ProcessFigures figures;
  private BenchEngine engine;
  private Way direct;
  private Way proxied;
  private Way bare;

  @BeforeEach
  void openATurn() throws Exception {
    Path agent =
        Files.writeString(
            directory.resolve("agent.sh"), AGENT.replace("@HERE@", directory.toString()));
    assertThat(agent.toFile().setExecutable(true)).isTrue();
    engine = closer.own(new BenchEngine());
    bare = bareWay();
    ServerProcess server =
        closer.own(
            ServerProcess.start(
                List.of(
                    "--port=0",
                    "--runtime-root=" + directory.resolve("runtime"),
                    "--script-agent=" + agent),
                Map.of(),
                directory.resolve("server.log")));
    server.awaitReady(LIMIT);
    figures = new ProcessFigures(server.pid());
    ServerClient client = closer.own(new ServerClient(server.address(), LIMIT));
    post(client, "/v1/rollout/register", 200, registration());
    post(
        client,
        "/v1/sessions/bench/messages",
        202,
        Map.of(
            "turn_id",
            "t1",
            "mode",
            "async",
            "messages",
            List.of(Map.of("role", "user", "content", "go"))));
    Path model = directory.resolve("model");
    Awaitility.await().atMost(LIMIT).until(() -> Files.exists(model));
    String[] told = Files.readString(model).split(" ");
    proxied = new Way(URI.create(told[0]).getPort(), told[1], figures);
    direct = new Way(engine.port(), "", figures);
  }

  private Way bareWay() throws Exception {
    ServerProcess process =
        closer.own(
            ServerProcess.start(
                BarePassThrough.class,
                List.of("http://127.0.0.1:" + engine.port()),
                Map.of(),
                directory.resolve("bare.log")));
    process.awaitReady(LIMIT);
    return new Way(process.address().getPort(), "", new ProcessFigures(process.pid()));
  }

  private Map<String, Object> registration() {
    return Map.of(
        "blackbox_type",
        "script",
        "router",
        "http://127.0.0.1:" + engine.port() + "/v1",
        "bound_session_id",
        "bench",
        "bound_instance_id",
        "bench-instance",
        "backend_options",
        Map.of("proxy", Map.of("max_steps", 1_000_000)));
  }

  private static void post(ServerClient client, String path, int status, Map<String, Object> body)
      throws Exception {
    ServerClient.Answer answer = client.post(path, body);
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
  }

  @AfterEach
  void end() {
    closer.close();
  }

  @AfterAll
  static void printTable() {
    System.out.println(
        "\n| Model proxy | CPU | added p50 | added p99 | direct p50 |\n|---|---|---|---|---|");
    TABLE.forEach(System.out::println);
  }

  /** One kind of load, as often as said, by so many clients at once. */
  private record Load(String body, int clients, int callsEach) {}

  /** Times of calls, or of events on their way. */
  private record Figures(Samples samples, double cpuSeconds) {}

  @Test
  void plainCalls() throws Exception {
    Load bareOne = new Load(Tongue.CHAT.body("plain", 20, 0), 1, CALLS);
    callRow("raw limit (BarePassThrough): plain call", Tongue.CHAT, bareOne, bare);
    for (Tongue tongue : Tongue.values()) {
      Load one = new Load(tongue.body("plain", 20, 0), 1, CALLS);
      callRow(tongue + ", plain call", tongue, one);
    }
    Load many = new Load(Tongue.CHAT.body("plain", 20, 0), CLIENTS, CALLS / CLIENTS);
    callRow("CHAT, plain call, " + CLIENTS + " clients", Tongue.CHAT, many);
    callRow("raw limit: plain call, " + CLIENTS + " clients", Tongue.CHAT, many, bare);
  }

  @Test
  void largePrompts() throws Exception {
    for (Tongue tongue : Tongue.values()) {
      Load large = new Load(tongue.body("plain", 80 << 10, TOOLS), 1, LARGE_CALLS);
      callRow(
          "%s, prompt of %d KB with %d tools".formatted(tongue, large.body.length() >> 10, TOOLS),
          tongue,
          large);
      Load huge = new Load(tongue.body("plain", 1 << 20, TOOLS), 1, LARGE_CALLS / 2);
      callRow(tongue + ", prompt of 1 MB", tongue, huge);
    }
  }

  @Test
  void streams() throws Exception {
    Load barePaced = new Load(Tongue.CHAT.body("stream-" + EVENTS + "-20", 20, 0), STREAMS, 1);
    eventRow(
        "raw limit: %d paced streams".formatted(STREAMS), Tongue.CHAT, barePaced, EVENTS, bare);
    for (Tongue tongue : Tongue.values()) {
      Load paced = new Load(tongue.body("stream-" + EVENTS + "-20", 20, 0), STREAMS, 1);
      eventRow("%s, %d paced streams".formatted(tongue, STREAMS), tongue, paced, EVENTS, proxied);
    }
    for (Tongue tongue : Tongue.values()) {
      Load unpaced =
          new Load(tongue.body("stream-" + EVENTS_UNPACED + "-0", 20, 0), STREAMS_UNPACED, 1);
      eventRow(tongue + ", streams as fast as can be", tongue, unpaced, EVENTS_UNPACED, proxied);
    }
    for (Tongue tongue : Tongue.values()) {
      Load many = new Load(tongue.body("stream-" + EVENTS / 2 + "-250", 20, 0), STREAMS_MANY, 1);
      eventRow(
          "%s, %d paced streams".formatted(tongue, STREAMS_MANY),
          tongue,
          many,
          EVENTS / 2,
          proxied);
      TABLE.add(
          String.format(
              Locale.ROOT,
              "| resident memory then | %.0f MB | | | |",
              figures.residentMegabytes()));
    }
  }

  private void callRow(String name, Tongue tongue, Load load) throws Exception {
    callRow(name, tongue, load, proxied);
  }

  private void callRow(String name, Tongue tongue, Load load, Way way) throws Exception {
    run(tongue, new Load(load.body, load.clients, 1 + load.callsEach / 4), way);
    // The engine looks at the model only, in whatever dialect the rest is.
    Figures without = run(Tongue.CHAT, load, direct);
    Figures with = run(tongue, load, way);
    int calls = load.clients * load.callsEach;
    row(name, "%.0f µs a call", with.cpuSeconds * 1e6 / calls, with.samples, without.samples);
  }

  private void eventRow(String name, Tongue tongue, Load load, int events, Way way)
      throws Exception {
    String model = "stream-" + EVENTS + "-5";
    run(tongue, new Load(tongue.body(model, 20, 0), 10, 1), way);
    Figures without = run(Tongue.CHAT, load, direct);
    Figures with = run(tongue, load, way);
    assertThat(with.samples.count()).as("no event is lost").isEqualTo(load.clients * events);
    row(
        name,
        "%.1f s per million events",
        with.cpuSeconds * 1e6 / (load.clients * events),
        with.samples,
        without.samples);
  }

  private static Figures run(Tongue tongue, Load load, Way way) throws Exception {
    double before = way.figures.cpuSeconds();
    Samples all = new Samples();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Samples>> each = new ArrayList<>();
      for (int i = 0; i < load.clients; i++) {
        each.add(clients.submit(() -> calls(tongue, load, way)));
      }
      for (Future<Samples> one : each) {
        one.get().forEach(all::add);
      }
    }
    return new Figures(all, way.figures.cpuSeconds() - before);
  }

  private static Samples calls(Tongue tongue, Load load, Way way) throws IOException {
    Samples samples = new Samples();
    boolean streams = load.body.contains("\"stream-");
    byte[] body = load.body.getBytes(StandardCharsets.UTF_8);
    try (BenchCaller caller = new BenchCaller(way.port, tongue.path, way.key)) {
      for (int i = 0; i < load.callsEach; i++) {
        double millis = caller.call(body, streams ? samples::add : _ -> {});
        if (!streams) {
          samples.add(millis);
        }
      }
    }
    return samples;
  }

  private static void row(String name, String unit, double cpu, Samples proxied, Samples direct) {
    TABLE.add(
        String.format(
            Locale.ROOT,
            "| %s | " + unit + " | %.2f ms | %.2f ms | %.2f ms |",
            name,
            cpu,
            proxied.p50() - direct.p50(),
            proxied.p99() - direct.p99(),
            direct.p50()));
    System.out.println(TABLE.getLast());
  }
}
