package dev.blackbox.agent;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model behind the Anthropic Messages and the OpenAI Responses interface. It obeys the last order
 * of the conversation: {@code order: tool COMMAND} calls the shell once, {@code order: loop} calls
 * it for ever, {@code order: fail} is refused (each closed by {@code END}); whatever else is
 * answered with the number of orders so far.
 */
public final class ScriptedModel implements AutoCloseable {

  private static final Pattern ORDER = Pattern.compile("order: (.*?) END");

  /** What each call reports. */
  public static final int INPUT_TOKENS = 100;

  public static final int OUTPUT_TOKENS = 7;

  public final List<String> paths = new CopyOnWriteArrayList<>();
  public final List<String> bodies = new CopyOnWriteArrayList<>();
  public final List<String> authorizations = new CopyOnWriteArrayList<>();

  private final HttpServer server;
  private final AtomicInteger toolCalls = new AtomicInteger();

  public ScriptedModel() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/v1/messages", exchange -> answer(exchange, true));
    server.createContext("/v1/responses", exchange -> answer(exchange, false));
    server.start();
  }

  public URI base() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/v1");
  }

  private void answer(HttpExchange exchange, boolean anthropic) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    paths.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
    bodies.add(body);
    authorizations.add(exchange.getRequestHeaders().getFirst("Authorization"));
    List<?> conversation =
        (List<?>) Json.object(body).getOrDefault(anthropic ? "messages" : "input", List.of());
    List<String> orders = new ArrayList<>();
    boolean toolRan = false;
    for (Object entry : conversation) {
      String text = Json.write(entry);
      Matcher order = ORDER.matcher(text.contains("\"role\":\"user\"") ? text : "");
      boolean isOrder = false;
      while (order.find()) { // several, where an agent joins prompts that had no answer
        isOrder = true;
        orders.add(order.group(1));
      }
      boolean isResult = text.contains("tool_result") || text.contains("function_call_output");
      toolRan = (toolRan && !isOrder) || isResult;
    }
    String order = orders.isEmpty() ? "" : orders.getLast();
    if (order.equals("fail")) {
      refuse(exchange);
      return;
    }
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    String command = order.startsWith("tool ") && !toolRan ? order.substring(5) : "";
    String shell = order.equals("loop") ? "true" : command;
    String said = "I saw " + orders.size();
    if (anthropic) {
      messages(out, shell, said);
    } else {
      responses(out, shell, said);
    }
    exchange.close();
  }

  private static void refuse(HttpExchange exchange) throws IOException {
    byte[] error =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"refused\"}}"
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(400, error.length);
    exchange.getResponseBody().write(error);
    exchange.close();
  }

  private void messages(OutputStream out, String shell, String said) throws IOException {
    int number = toolCalls.incrementAndGet();
    send(
        out,
        "message_start",
        "\"message\":{\"id\":\"msg_"
            + number
            + "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],"
            + "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":"
            + INPUT_TOKENS
            + ",\"output_tokens\":1}}");
    String block =
        shell.isEmpty()
            ? "{\"type\":\"text\",\"text\":\"\"}"
            : "{\"type\":\"tool_use\",\"id\":\"toolu_"
                + number
                + "\",\"name\":\"Bash\",\"input\":{}}";
    send(out, "content_block_start", "\"index\":0,\"content_block\":" + block);
    Map<String, Object> delta =
        shell.isEmpty()
            ? Map.of("type", "text_delta", "text", said)
            : Map.of(
                "type",
                "input_json_delta",
                "partial_json",
                Json.write(Map.of("command", shell, "description", "as told")));
    send(out, "content_block_delta", "\"index\":0,\"delta\":" + Json.write(delta));
    send(out, "content_block_stop", "\"index\":0");
    send(
        out,
        "message_delta",
        "\"delta\":{\"stop_reason\":\""
            + (shell.isEmpty() ? "end_turn" : "tool_use")
            + "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":"
            + OUTPUT_TOKENS
            + "}");
    send(out, "message_stop", "\"ok\":true");
  }

  private void responses(OutputStream out, String shell, String said) throws IOException {
    int number = toolCalls.incrementAndGet();
    String item =
        shell.isEmpty()
            ? "{\"type\":\"message\",\"id\":\"msg_"
                + number
                + "\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\""
                + said
                + "\"}]}"
            : "{\"type\":\"function_call\",\"call_id\":\"call_"
                + number
                + "\",\"name\":\"exec_command\",\"arguments\":"
                + Json.write(Json.write(Map.of("cmd", shell)))
                + "}";
    send(out, "response.created", "\"response\":{\"id\":\"r" + number + "\"}");
    send(out, "response.output_item.done", "\"output_index\":0,\"item\":" + item);
    send(
        out,
        "response.completed",
        "\"response\":{\"id\":\"r"
            + number
            + "\",\"usage\":{\"input_tokens\":"
            + INPUT_TOKENS
            + ",\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":"
            + OUTPUT_TOKENS
            + ",\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":"
            + (INPUT_TOKENS + OUTPUT_TOKENS)
            + "}}");
  }

  private static void send(OutputStream out, String event, String members) throws IOException {
    String text = "event: " + event + "\ndata: {\"type\":\"" + event + "\"," + members + "}\n\n";
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
