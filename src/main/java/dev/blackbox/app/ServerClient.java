package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A controller in small: calls of the HTTP API, for the demo, the training and the tests. */
public final class ServerClient implements Resource {

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .proxy(HttpClient.Builder.NO_PROXY)
          .connectTimeout(Duration.ofSeconds(10))
          .build();
  private final URI server;
  private final Duration timeout;

  /**
   * @param timeout for each call
   */
  public ServerClient(URI server, Duration timeout) {
    this.server = server;
    this.timeout = timeout;
  }

  /**
   * An answer.
   *
   * @param body as a tree; empty if it is no JSON object
   */
  public record Answer(int status, String text, Map<String, @Nullable Object> body) {

    /** A field of the body as text, {@code null} as "null". */
    public String field(String name) {
      return String.valueOf(body.get(name));
    }
  }

  public Answer get(String path) throws InterruptedException {
    return send(request(path).GET().build());
  }

  public Answer post(String path, Map<String, ? extends @Nullable Object> body)
      throws InterruptedException {
    return send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(Json.writeBytes(body)))
            .build());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(server.resolve(path)).timeout(timeout);
  }

  private Answer send(HttpRequest request) throws InterruptedException {
    try {
      HttpResponse<String> response =
          http.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
      return new Answer(response.statusCode(), response.body(), tree(response.body()));
    } catch (IOException failure) {
      throw new UncheckedIOException(
          request.method() + " " + request.uri() + " failed: " + failure, failure);
    }
  }

  @SuppressWarnings("unchecked") // a JSON object has string keys
  private static Map<String, @Nullable Object> tree(String text) {
    try {
      return Json.parse(text) instanceof Map<?, ?> object
          ? (Map<String, @Nullable Object>) object
          : Map.of();
    } catch (MalformedJsonException noJson) {
      return Map.of();
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
    http.close();
  }
}
