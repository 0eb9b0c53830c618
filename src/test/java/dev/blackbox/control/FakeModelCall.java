package dev.blackbox.control;

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

/** A model that fails at first, and an agent's call of it through the proxy, with retries. */
final class FakeModelCall implements Resource {

  private static final int ATTEMPTS = 3;

  private static final String REQUEST =
      """
      {"model": "m", "messages": [{"role": "user", "content": "hello"}]}\
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
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          boolean asked = exchange.getRequestURI().getPath().endsWith("/chat/completions");
          boolean fails = asked && calls.getAndIncrement() == 0;
          byte[] body = (fails ? "{}" : ANSWER).getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(fails ? 503 : 200, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    server.start();
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
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(slot.modelBase() + "/chat/completions"))
            .header("Authorization", "Bearer " + slot.modelKey().reveal())
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(REQUEST))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() == 200) {
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
}
