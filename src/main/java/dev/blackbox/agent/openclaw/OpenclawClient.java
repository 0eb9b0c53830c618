package dev.blackbox.agent.openclaw;

import dev.blackbox.kernel.Secret;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The calls of the gateway's HTTP interface that we need; seen with version 2026.9.6. Every call
 * has a client of its own, because closing its connection is what ends a turn, and because a kept
 * connection may have been closed by the other side when a prompt is sent.
 */
final class OpenclawClient {

  private static final long ANSWER_BYTES_MAX = 64 << 20;

  private final URI origin;
  private final Secret token;

  /** A prompt that was sent. */
  record Call(HttpClient client, CompletableFuture<HttpResponse<byte[]>> answer) {

    /** Closes its connection, and thereby ends the turn. Must be called in any case. */
    void end() {
      answer.cancel(true);
      client.shutdownNow();
    }
  }

  OpenclawClient(int port, Secret token) {
    this.origin = URI.create("http://127.0.0.1:" + port);
    this.token = token;
  }

  private static HttpClient client() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .proxy(HttpClient.Builder.NO_PROXY)
        .followRedirects(HttpClient.Redirect.NEVER)
        .connectTimeout(Duration.ofSeconds(5))
        .build();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(origin.resolve(path))
        .header("Authorization", "Bearer " + token.reveal());
  }

  /**
   * The status that a path is answered with.
   *
   * @throws IOException if there is no answer in time
   */
  int status(String path, Duration within) throws IOException, InterruptedException {
    HttpClient client = client();
    try {
      return client
          .send(
              request(path).timeout(within).GET().build(),
              BodyHandlers.limiting(BodyHandlers.discarding(), ANSWER_BYTES_MAX))
          .statusCode();
    } finally {
      client.shutdownNow();
    }
  }

  /** Sends a prompt. The answer comes when the turn has ended, without any limit of time. */
  Call prompt(Map<String, Object> body, Map<String, String> headers) {
    HttpRequest.Builder request =
        request("/v1/chat/completions").header("Content-Type", "application/json");
    headers.forEach(request::header);
    HttpClient client = client();
    return new Call(
        client,
        client.sendAsync(
            request.POST(HttpRequest.BodyPublishers.ofByteArray(Json.writeBytes(body))).build(),
            BodyHandlers.limiting(BodyHandlers.ofByteArray(), ANSWER_BYTES_MAX)));
  }
}
