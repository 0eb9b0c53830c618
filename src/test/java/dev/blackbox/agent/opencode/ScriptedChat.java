package dev.blackbox.agent.opencode;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A model that does as the last user message says: {@code tool COMMAND} calls the shell once,
 * {@code cut} breaks off in the middle of the answer, anything else is answered with the number of
 * user messages so far.
 */
final class ScriptedChat implements AutoCloseable {

  final List<Map<String, @Nullable Object>> requests = new CopyOnWriteArrayList<>();
  final List<String> authorizations = new CopyOnWriteArrayList<>();
  final AtomicInteger cuts = new AtomicInteger();

  private final HttpServer server;

  ScriptedChat() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/v1/chat/completions", this::answer);
    server.start();
  }

  URI base() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/v1");
  }

  private void answer(HttpExchange exchange) throws IOException {
    Map<String, @Nullable Object> request =
        Json.object(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    requests.add(request);
    authorizations.add(exchange.getRequestHeaders().getFirst("Authorization"));
    List<?> messages = (List<?>) request.get("messages");
    List<String> users =
        messages.stream()
            .map(message -> (Map<?, ?>) message)
            .filter(message -> "user".equals(message.get("role")))
            .map(message -> text(message.get("content")))
            .toList();
    String order = users.getLast();
    boolean toolRan = "tool".equals(((Map<?, ?>) messages.getLast()).get("role"));
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    if (order.startsWith("cut")) {
      cuts.incrementAndGet();
      send(out, Map.of("role", "assistant", "content", "partial"), null);
    } else if (order.startsWith("tool ") && !toolRan) {
      send(out, Map.of("role", "assistant", "tool_calls", List.of(shell(order))), null);
      send(out, Map.of(), "tool_calls");
    } else {
      send(out, Map.of("role", "assistant", "content", "I saw " + users.size()), null);
      send(out, Map.of(), "stop");
      out.write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
    }
    exchange.close();
  }

  private static Map<String, Object> shell(String order) {
    return Map.of(
        "index",
        0,
        "id",
        "call_1",
        "type",
        "function",
        "function",
        Map.of(
            "name",
            "bash",
            "arguments",
            Json.write(Map.of("command", order.substring(5), "description", "as told"))));
  }

  private static void send(OutputStream out, Map<String, Object> delta, @Nullable String finish)
      throws IOException {
    Map<String, @Nullable Object> choice = new java.util.LinkedHashMap<>();
    choice.put("index", 0);
    choice.put("delta", delta);
    choice.put("finish_reason", finish);
    Map<String, @Nullable Object> chunk = new java.util.LinkedHashMap<>();
    chunk.put("id", "chat-1");
    chunk.put("object", "chat.completion.chunk");
    chunk.put("created", 1);
    chunk.put("model", "m1");
    chunk.put("choices", List.of(choice));
    if (finish != null) {
      chunk.put(
          "usage",
          Map.of(
              "prompt_tokens",
              100,
              "completion_tokens",
              7,
              "total_tokens",
              107,
              "prompt_tokens_details",
              Map.of("cached_tokens", 40)));
    }
    out.write(("data: " + Json.write(chunk) + "\n\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static String text(@Nullable Object content) {
    if (content instanceof List<?> parts) {
      StringBuilder all = new StringBuilder();
      parts.forEach(part -> all.append(((Map<?, ?>) part).get("text")));
      return all.toString();
    }
    return String.valueOf(content);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
