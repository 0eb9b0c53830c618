package dev.blackbox.control;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A model that fails at first and breaks off every stream, and an agent's calls of it through the
 * proxy.
 */
final class FakeModelCall implements Resource {

  private static final int ATTEMPTS = 3;

  private static final String REQUEST =
      """
      {"model": "m", "messages": [{"role": "user", "content": "hello"}]}\
      """;

  private static final String STREAMED_REQUEST =
      """
      {"model": "m", "stream": true, "messages": [{"role": "user", "content": "hello"}]}\
      """;

  private static final String FIRST_CHUNK =
      """
      data: {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices":\
       [{"index": 0, "delta": {"role": "assistant", "content": "model says"}}]}

      """;

  private static final String ANSWER =
      """
      {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
       "message": {"role": "assistant", "content": "model says hello"}, "finish_reason": "stop"}],
       "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}\
      """;

  private final HttpServer server;
  private final AtomicInteger calls = new AtomicInteger();

  FakeModelCall() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    boolean asked = exchange.getRequestURI().getPath().endsWith("/chat/completions");
    if (asked && request.contains("\"stream\": true")) {
      cutStream(exchange);
      return;
    }
    boolean fails = asked && calls.getAndIncrement() == 0;
    byte[] body = (fails ? "{}" : ANSWER).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(fails ? 503 : 200, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  /** Begins to answer, and is gone. */
  private static void cutStream(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    out.write(FIRST_CHUNK.getBytes(StandardCharsets.UTF_8));
    out.flush();
    // Without the stream's own end, so that the connection breaks.
    exchange.close();
  }

  String router() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  /** What the agent does: asks again while the model fails. */
  static String answer(AgentSlot slot) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (ask(client, slot, REQUEST).statusCode() == 200) {
          return "model answered";
        }
      }
      return "model failed";
    } catch (IOException failure) {
      return "model gone";
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  /** Asks for a stream, and says whether what came looks like a whole one. */
  static boolean looksWhole(AgentSlot slot) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response = ask(client, slot, STREAMED_REQUEST);
      return response.statusCode() == 200 && !response.body().contains("\"error\"");
    } catch (IOException broken) {
      return false;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static HttpResponse<String> ask(HttpClient client, AgentSlot slot, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(slot.modelBase() + "/chat/completions"))
            .header("Authorization", "Bearer " + slot.modelKey().reveal())
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }
}
