package dev.blackbox.app;

import dev.blackbox.kernel.Closer;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The story of one turn that survives kill -9, with real processes: a scripted engine here, the
 * server and its agent below us. What is claimed is checked, and {@link #tell} returns whether all
 * of it was true. Everything that is started ends with {@link #close}.
 */
final class Demo implements Resource {

  private static final Duration READY_LIMIT = Duration.ofMinutes(3);
  private static final Duration CALL_LIMIT = Duration.ofMinutes(5);
  private static final Duration END_LIMIT = Duration.ofMinutes(1);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(200);
  private static final String SESSION = "demo-session";
  private static final String TURN = "demo-turn-1";

  private final Path directory;
  private final Path file;
  private final DemoAgent agent;
  private final PrintWriter out;
  private final Closer closer = new Closer();
  private final List<ProcessHandle> agents = new ArrayList<>();
  private final List<String> untrue = new ArrayList<>();
  private int step;

  /**
   * @param directory for everything: state, runtime, logs
   * @param file that the agent is to write
   */
  Demo(Path directory, Path file, DemoAgent agent, PrintWriter out) {
    this.directory = directory;
    this.file = file;
    this.agent = agent;
    this.out = out;
    closer.own(this::endAgents);
  }

  /** True if everything that it claims was seen. */
  boolean tell(Engine.Starter engines) throws InterruptedException {
    Engine engine = closer.own(engines.start(0, agent.script()));
    step("Engine", "answers from a script at http://127.0.0.1:" + engine.port() + "/v1");
    step("Agent", agent.description());

    ServerProcess first = server("0");
    step("Server", first.awaitReady(READY_LIMIT));
    URI address = first.address();
    Map<String, @Nullable Object> before;
    try (ServerClient client = new ServerClient(address, CALL_LIMIT)) {
      register(client, engine);
      before = turn(client, engine);
    }
    kill(first);

    ServerProcess second = server(Integer.toString(address.getPort()));
    step("Server again", second.awaitReady(READY_LIMIT));
    check("no process of the killed server's agent is left", agents.stream().noneMatch(Demo::runs));
    try (ServerClient client = new ServerClient(address, CALL_LIMIT)) {
      repeat(client, engine, before);
      boundAgain(client);
    }
    end(second);
    ledger();
    return conclusion();
  }

  private ServerProcess server(String port) {
    List<String> options = new ArrayList<>(agent.serverOptions());
    options.add("--port=" + port);
    options.add("--runtime-root=" + directory.resolve("runtime"));
    options.add("--state-dir=" + state());
    return closer.own(
        ServerProcess.start(options, agent.environment(), directory.resolve("server.log")));
  }

  private Path state() {
    return directory.resolve("state");
  }

  private void register(ServerClient client, Engine engine) throws InterruptedException {
    ServerClient.Answer answer =
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type",
                agent.type(),
                "router",
                "http://127.0.0.1:" + engine.port(),
                "router_api_path",
                "/v1",
                "bound_session_id",
                SESSION,
                "bound_instance_id",
                "demo-instance",
                "backend_options",
                agent.options()));
    require(answer, 200, "registration");
    step("Registered", "session " + SESSION + ", status " + answer.field("status"));
  }

  private Map<String, @Nullable Object> turn(ServerClient client, Engine engine)
      throws InterruptedException {
    step("Turn", "asks the agent to write " + file);
    long started = System.nanoTime();
    ServerClient.Answer answer = submit(client);
    require(answer, 200, "turn");
    detail("answer    " + answerText(answer) + "  (after " + seconds(started) + " s)");
    detail("calls     " + engine.calls() + " of the model");
    check(
        "the turn is committed",
        client
            .get("/v1/sessions/" + SESSION + "/turns/" + TURN)
            .field("status")
            .equals("committed"));
    check("the agent wrote the file", content().equals(DemoAgent.FILE_CONTENT));
    return told(answer);
  }

  private void kill(ServerProcess server) throws InterruptedException {
    agents.addAll(server.descendants());
    server.kill();
    step("kill -9", "server process " + server.pid() + " is dead");
  }

  /** A process that ended but was not waited for (state Z) does not run. */
  private static boolean runs(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
      return process.isAlive() && stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException gone) {
      return false;
    }
  }

  private void repeat(ServerClient client, Engine engine, Map<String, @Nullable Object> before)
      throws InterruptedException {
    int calls = engine.calls();
    step("Same request", "as if the first answer had been lost");
    ServerClient.Answer answer = submit(client);
    require(answer, 200, "repeated turn");
    detail("answer    " + answerText(answer));
    check("idempotent_replay is true", answer.field("idempotent_replay").equals("true"));
    check("the answer is the same", told(answer).equals(before));
    check("the model was not asked again", engine.calls() == calls);
  }

  /** The answer did not wait for the agent, whose start may take a while. */
  private void boundAgain(ServerClient client) throws InterruptedException {
    long deadline = System.nanoTime() + READY_LIMIT.toNanos();
    String status = client.get("/v1/status").field("status");
    while (status.equals("initializing") && System.nanoTime() < deadline) {
      Thread.sleep(LOOK_AGAIN);
      status = client.get("/v1/status").field("status");
    }
    step("Agent again", "status " + status);
    check("the binding is restored", status.equals("ready"));
  }

  private ServerClient.Answer submit(ServerClient client) throws InterruptedException {
    return client.post(
        "/v1/sessions/" + SESSION + "/messages",
        Map.of(
            "turn_id",
            TURN,
            "mode",
            "sync",
            "messages",
            List.of(
                Map.of("role", "user", "content", "Please write a greeting into " + file + "."))));
  }

  /** The content of the last message. */
  private static String answerText(ServerClient.Answer answer) {
    return answer.body().get("outputs") instanceof List<?> outputs
            && !outputs.isEmpty()
            && outputs.getLast() instanceof Map<?, ?> message
        ? "\"" + message.get("content") + "\""
        : "none";
  }

  /** What a replay may not change: everything but the request's own id and the replay flag. */
  private static Map<String, @Nullable Object> told(ServerClient.Answer answer) {
    Map<String, @Nullable Object> told = new LinkedHashMap<>(answer.body());
    told.remove("request_id");
    told.remove("idempotent_replay");
    return told;
  }

  private void end(ServerProcess server) throws InterruptedException {
    server.terminate();
    int code = server.awaitEnd(END_LIMIT);
    step("SIGTERM", "the server ended with exit code " + code);
    check("it ended in order", code == ExitCode.OK.number());
  }

  private void ledger() {
    step("Ledger", "bbs ledger timeline --state-dir=" + state());
    try (LedgerInspection ledger = LedgerInspection.open(LedgerConfig.at(state()))) {
      Timeline.BRIEF.print(ledger.reads(), 1, out);
      LedgerFacts.ChainReport report = ledger.reads().verify();
      report.problems().forEach(this::detail);
      check("the hash chain is whole, " + report.events() + " events", report.problems().isEmpty());
      check("the agent was started for this turn once", starts(ledger) == 1);
    }
  }

  private static long starts(LedgerInspection ledger) {
    return ledger.reads().events(1, Integer.MAX_VALUE).stream()
        .filter(event -> event.type().equals("turn_started"))
        .count();
  }

  private boolean conclusion() {
    out.println();
    if (untrue.isEmpty()) {
      out.println("Shown: same answer, marked as replay, one agent run, a whole history.");
    } else {
      out.println("NOT shown:");
      untrue.forEach(what -> out.println("  " + what));
      out.println("The server's log: " + directory.resolve("server.log"));
    }
    out.flush();
    return untrue.isEmpty();
  }

  private String content() {
    try {
      return Files.exists(file) ? Files.readString(file).strip() : "";
    } catch (IOException unreadable) {
      return "unreadable: " + unreadable;
    }
  }

  private static void require(ServerClient.Answer answer, int status, String what) {
    if (answer.status() != status) {
      throw new ExitException(
          ExitCode.NOT_SHOWN,
          "the " + what + " was answered with " + answer.status() + ": " + answer.text());
    }
  }

  private void step(String title, String text) {
    step++;
    out.printf("%2d  %-13s %s%n", step, title, text);
    out.flush();
  }

  private void detail(String text) {
    out.println("                  " + text);
    out.flush();
  }

  private void check(String what, boolean isTrue) {
    detail((isTrue ? "yes       " : "NO        ") + what);
    if (!isTrue) {
      untrue.add(what);
    }
  }

  private static String seconds(long sinceNanos) {
    return String.format(java.util.Locale.ROOT, "%.1f", (System.nanoTime() - sinceNanos) / 1e9);
  }

  /** If the story broke off between kill and restart, nobody else ends them. */
  private void endAgents() {
    agents.forEach(ProcessHandle::destroyForcibly);
  }

  @Override
  public void close() {
    closer.close();
  }
}
