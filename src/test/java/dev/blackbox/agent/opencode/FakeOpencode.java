package dev.blackbox.agent.opencode;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Speaks opencode's HTTP interface and does what the prompt's first word says. Keeps its sessions
 * in a file, as opencode does. Arguments: a mode ({@code normal}, {@code exit}, {@code never}),
 * then those of {@code opencode serve}.
 */
final class FakeOpencode {

  private static final String AUTHORIZATION =
      "Basic "
          + Base64.getEncoder()
              .encodeToString(
                  ("opencode:" + System.getenv("OPENCODE_SERVER_PASSWORD"))
                      .getBytes(StandardCharsets.UTF_8));

  private final Path store = Path.of(System.getenv("XDG_DATA_HOME"), "fake.json");
  private final Map<String, @Nullable Object> sessions = new LinkedHashMap<>();
  private volatile CountDownLatch aborted = new CountDownLatch(1);
  private volatile boolean deaf;
  private volatile boolean garbage;
  private volatile String busy = "";

  private FakeOpencode() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("exit")) {
      System.err.println("Error: cannot start today");
      Runtime.getRuntime().halt(3);
    }
    FakeOpencode fake = new FakeOpencode();
    if (Files.exists(fake.store)) {
      fake.sessions.putAll(Json.object(Files.readString(fake.store)));
    }
    int port = Integer.parseInt(arguments[Arrays.asList(arguments).indexOf("--port") + 1]);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    boolean ready = !arguments[0].equals("never");
    server.createContext("/", exchange -> fake.handle(exchange, ready));
    server.start();
  }

  private void handle(HttpExchange exchange, boolean ready) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String call = exchange.getRequestMethod() + " " + path.replaceAll("ses_\\d+", "ID");
    byte[] body = exchange.getRequestBody().readAllBytes();
    if (!AUTHORIZATION.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
      answer(exchange, 401, Map.of());
      return;
    }
    String id = path.startsWith("/session/ses_") ? path.split("/")[2] : "";
    switch (call) {
      case "GET /global/health" -> answer(exchange, 200, Map.of("healthy", ready));
      case "POST /session" -> answer(exchange, 200, Map.of("id", create()));
      case "GET /session/ID" -> answer(exchange, sessions.containsKey(id) ? 200 : 404, Map.of());
      case "GET /session/status" ->
          answer(exchange, 200, busy.isEmpty() ? Map.of() : Map.of(busy, Map.of("type", "busy")));
      case "POST /session/ID/message" -> {
        busy = id;
        prompt(exchange, id, Json.object(new String(body, StandardCharsets.UTF_8)));
        busy = "";
      }
      case "GET /session/ID/message" -> history(exchange, id);
      case "POST /session/ID/abort" -> {
        if (!deaf) {
          aborted.countDown();
        }
        answer(exchange, 200, true);
      }
      case "POST /instance/dispose" -> answer(exchange, 200, true);
      default -> answer(exchange, 404, Map.of("called", call));
    }
  }

  private synchronized String create() throws IOException {
    String id = "ses_" + (sessions.size() + 1);
    sessions.put(id, new ArrayList<>());
    save();
    return id;
  }

  private void prompt(HttpExchange exchange, String id, Map<String, @Nullable Object> body)
      throws IOException {
    String text = (String) ((Map<?, ?>) ((List<?>) body.get("parts")).getFirst()).get("text");
    String[] words = text.split(" ", 2);
    String rest = words.length > 1 ? words[1] : "";
    aborted = new CountDownLatch(1);
    add(id, "user", List.of(Map.of("type", "text", "text", text)), true, null);
    switch (words[0]) {
      case "say" -> add(id, "assistant", List.of(textPart(rest), step()), true, null);
      case "environment" ->
          add(id, "assistant", List.of(textPart(Json.write(System.getenv()))), true, null);
      case "count" -> add(id, "assistant", List.of(textPart("" + countUsers(id))), true, null);
      case "many" -> {
        for (int i = 0; i < Integer.parseInt(rest); i++) {
          add(id, "assistant", List.of(textPart("line " + i)), true, null);
        }
      }
      case "wait", "deaf" -> await(id, rest, words[0].equals("deaf"));
      case "fail" -> add(id, "assistant", List.of(), true, error("APIError", "engine says no"));
      case "empty" -> add(id, "assistant", List.of(Map.of("type", "step-start")), true, null);
      case "late" -> completeLater(id, rest);
      case "garbage" -> garbage = true;
      case "refuse" -> {
        answer(exchange, 500, Map.of("name", "UnknownError"));
        return;
      }
      case "crash" -> Runtime.getRuntime().halt(42);
      case "drop" -> {
        exchange.close();
        await(id, "", false);
        return;
      }
      default -> throw new IllegalArgumentException(text);
    }
    answer(exchange, 200, Map.of("info", Map.of(), "parts", List.of()));
  }

  /** Starts a child that an abort does not end, and waits to be aborted. */
  private void await(String id, String childFile, boolean isDeaf) throws IOException {
    deaf = isDeaf;
    if (!childFile.isEmpty()) {
      new ProcessBuilder(
              "setsid",
              "sh",
              "-c",
              "echo $$ > "
                  + childFile
                  + ".part; mv "
                  + childFile
                  + ".part "
                  + childFile
                  + "; exec sleep 300")
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start();
    }
    try {
      aborted.await();
    } catch (InterruptedException never) {
      throw new IOException(never);
    }
    add(
        id,
        "assistant",
        List.of(textPart("partial")),
        true,
        error("MessageAbortedError", "Aborted"));
  }

  private void completeLater(String id, String text) throws IOException {
    add(id, "assistant", List.of(), false, null);
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                Thread.sleep(300);
                removeLast(id);
                add(id, "assistant", List.of(textPart(text)), true, null);
              } catch (IOException | InterruptedException failed) {
                throw new IllegalStateException(failed);
              }
            });
  }

  private synchronized void removeLast(String id) {
    messages(id).removeLast();
  }

  private synchronized long countUsers(String id) {
    return messages(id).stream()
        .map(message -> (Map<?, ?>) ((Map<?, ?>) message).get("info"))
        .filter(info -> "user".equals(info.get("role")))
        .count();
  }

  private synchronized void add(
      String id, String role, List<?> parts, boolean complete, @Nullable Map<String, Object> error)
      throws IOException {
    Map<String, @Nullable Object> info = new LinkedHashMap<>();
    info.put("id", "msg_%05d".formatted(messages(id).size() + 1));
    info.put("role", role);
    info.put("time", complete ? Map.of("created", 1, "completed", 2) : Map.of("created", 1));
    if (error != null) {
      info.put("error", error);
    }
    messages(id).add(Map.of("info", info, "parts", parts));
    save();
  }

  @SuppressWarnings("unchecked")
  private List<Object> messages(String id) {
    return (List<Object>) sessions.get(id);
  }

  private void save() throws IOException {
    Files.writeString(store, Json.write(sessions));
  }

  private synchronized void history(HttpExchange exchange, String id) throws IOException {
    if (garbage) {
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write("<html>".getBytes(StandardCharsets.UTF_8));
      exchange.close();
      return;
    }
    Map<String, String> query = query(exchange);
    List<Object> all = messages(id);
    int end = query.containsKey("before") ? Integer.parseInt(query.get("before")) : all.size();
    int start =
        query.containsKey("limit") ? Math.max(0, end - Integer.parseInt(query.get("limit"))) : 0;
    if (start > 0) {
      exchange.getResponseHeaders().add("x-next-cursor", Integer.toString(start));
    }
    answer(exchange, 200, all.subList(start, end));
  }

  private static Map<String, String> query(HttpExchange exchange) {
    Map<String, String> query = new LinkedHashMap<>();
    for (String pair : exchange.getRequestURI().getRawQuery().split("&")) {
      String[] sides = pair.split("=", 2);
      query.put(sides[0], URLDecoder.decode(sides[1], StandardCharsets.UTF_8));
    }
    return query;
  }

  private static Map<String, Object> textPart(String text) {
    return Map.of("type", "text", "text", text);
  }

  private static Map<String, Object> step() {
    return Map.of("type", "step-finish", "tokens", Map.of("total", 9, "input", 5, "output", 4));
  }

  private static Map<String, Object> error(String name, String message) {
    return Map.of("name", name, "data", Map.of("message", message));
  }

  private static void answer(HttpExchange exchange, int status, Object body) throws IOException {
    byte[] bytes = Json.writeBytes(body);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
