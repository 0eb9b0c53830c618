package dev.blackbox.agent.openclaw;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * Speaks the HTTP interface of OpenClaw's gateway, writes the record that our plugin would write,
 * and does what the prompt's first word says. Arguments: a mode ({@code normal}, {@code exit}),
 * then those of the gateway.
 */
final class FakeGateway {

  private final String token = System.getenv("OPENCLAW_GATEWAY_TOKEN");
  private final Path record;
  private final Path turn;
  private volatile String conversation = "conversation-1";

  private FakeGateway() throws IOException {
    Map<?, ?> config =
        Json.object(Files.readString(Path.of(System.getenv("OPENCLAW_CONFIG_PATH"))));
    Map<?, ?> plugin =
        (Map<?, ?>)
            ((Map<?, ?>)
                    ((Map<?, ?>) ((Map<?, ?>) config.get("plugins")).get("entries"))
                        .get("bbs-recorder"))
                .get("config");
    record = Path.of((String) plugin.get("record"));
    turn = Path.of((String) plugin.get("turn"));
  }

  /** Makes it a program that can be found and started. */
  static Path program(Path directory, String version, String mode) throws IOException {
    Path file = directory.resolve("fake-openclaw");
    Files.writeString(
        file,
        """
        #!/bin/sh
        if [ "$1" = --version ]; then echo '%s'; exit 0; fi
        exec '%s/bin/java' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -cp '%s' %s %s "$@"
        """
            .formatted(
                version,
                System.getProperty("java.home"),
                System.getProperty("java.class.path"),
                FakeGateway.class.getName(),
                mode));
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments[0].equals("exit")) {
      System.err.println("Invalid config: no such key");
      Runtime.getRuntime().halt(78);
    }
    FakeGateway fake = new FakeGateway();
    int port = Integer.parseInt(arguments[Arrays.asList(arguments).indexOf("--port") + 1]);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", fake::handle);
    server.start();
  }

  private void handle(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    byte[] body = exchange.getRequestBody().readAllBytes();
    boolean known =
        ("Bearer " + token).equals(exchange.getRequestHeaders().getFirst("Authorization"));
    switch (path) {
      case "/readyz", "/healthz" -> answer(exchange, 200, Map.of("ok", true));
      case "/v1/models" -> answer(exchange, known ? 200 : 401, Map.of());
      case "/v1/chat/completions" ->
          prompt(exchange, Json.object(new String(body, StandardCharsets.UTF_8)));
      default -> answer(exchange, 404, Map.of());
    }
  }

  private void prompt(HttpExchange exchange, Map<?, ?> body) throws IOException {
    String text = (String) ((Map<?, ?>) ((List<?>) body.get("messages")).getFirst()).get("content");
    String[] words = text.split(" ", 2);
    String rest = words.length > 1 ? words[1] : "";
    if (words[0].equals("another")) {
      conversation = "conversation-2";
    }
    write(Map.of("type", "run", "run", "r", "session", conversation));
    message(Map.of("role", "user", "content", text));
    switch (words[0]) {
      case "say", "another" -> say(exchange, rest);
      case "tool" -> {
        assistant(
            "toolUse",
            Map.of("type", "thinking", "thinking", "A tool, then."),
            Map.of("type", "text", "text", "I will."),
            Map.of(
                "type", "toolCall", "id", "c1", "name", "exec", "arguments", Map.of("cmd", "ls")));
        message(
            Map.of(
                "role",
                "toolResult",
                "toolCallId",
                "c1",
                "content",
                List.of(Map.of("type", "text", "text", "made.txt"))));
        say(exchange, rest);
      }
      case "environment" -> say(exchange, Json.write(System.getenv()));
      case "headers" ->
          say(exchange, String.valueOf(exchange.getRequestHeaders().get("x-openclaw-session-key")));
      case "body" -> say(exchange, Json.write(body));
      case "overflow" -> {
        Map<String, Object> failed = new LinkedHashMap<>();
        failed.put("role", "assistant");
        failed.put("content", List.of());
        failed.put("stopReason", "error");
        failed.put("errorMessage", "400 maximum context length is 100 tokens");
        message(failed);
        end(false);
        answer(exchange, 500, Map.of("error", Map.of("message", "internal error")));
      }
      case "nochoices" -> {
        end(true);
        answer(exchange, 200, Map.of("choices", List.of()));
      }
      case "wait" -> awaitStop(exchange, rest, true);
      case "deaf" -> awaitStop(exchange, rest, false);
      case "crash" -> Runtime.getRuntime().halt(42);
      default -> throw new IllegalArgumentException(text);
    }
  }

  /** Starts a child in a session of its own, and waits until the turn may not go on. */
  private void awaitStop(HttpExchange exchange, String child, boolean ends) throws IOException {
    assistant("toolUse", Map.of("type", "text", "text", "partial"));
    new ProcessBuilder(
            "setsid", "sh", "-c", "echo $$ > c.part; mv c.part " + child + "; exec sleep 300")
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
    while (Files.exists(turn)) {
      Thread.onSpinWait();
    }
    if (ends) {
      end(false);
    }
    exchange.close();
  }

  private void say(HttpExchange exchange, String text) throws IOException {
    assistant("stop", Map.of("type", "text", "text", text));
    end(true);
    answer(
        exchange,
        200,
        Map.of(
            "choices", List.of(Map.of("message", Map.of("role", "assistant", "content", text)))));
  }

  private void assistant(String stopReason, Object... parts) throws IOException {
    message(
        Map.of(
            "role",
            "assistant",
            "content",
            List.of(parts),
            "stopReason",
            stopReason,
            "usage",
            Map.of("input", 5, "cacheRead", 2, "output", 4, "totalTokens", 11)));
  }

  private void message(Map<String, Object> message) throws IOException {
    write(Map.of("type", "message", "message", message));
  }

  private void end(boolean success) throws IOException {
    write(Map.of("type", "end", "run", "r", "success", success));
  }

  private void write(Map<String, Object> line) throws IOException {
    Files.writeString(record, Json.write(line) + "\n", StandardOpenOption.APPEND);
  }

  private static void answer(HttpExchange exchange, int status, Object body) throws IOException {
    byte[] bytes = Json.writeBytes(body);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
