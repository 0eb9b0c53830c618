package dev.blackbox.app;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/**
 * The web server and the engine client that the proxy is made of, and nothing else: what passes
 * costs here is what no proxy of these two can be below.
 */
final class BarePassThrough {

  private static final int BUFFER_BYTES = 16 << 10;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(Runnable::run).build();
  private final URI engine;

  private BarePassThrough(URI engine) {
    this.engine = engine;
  }

  /** Arguments: {@code serve}, and where the engine is. */
  public static void main(String[] arguments) {
    BarePassThrough bare = new BarePassThrough(URI.create(arguments[1]));
    WebServer server =
        WebServer.builder()
            .host("127.0.0.1")
            .port(0)
            .featuresDiscoverServices(false)
            .writeBufferSize(0)
            .connectionOptions(socket -> socket.tcpNoDelay(true))
            .routing(routing -> routing.any(bare::pass))
            .build()
            .start();
    System.out.println("ready at http://127.0.0.1:" + server.port() + ", bare");
  }

  private void pass(ServerRequest request, ServerResponse response)
      throws IOException, InterruptedException {
    byte[] body = request.content().as(byte[].class);
    HttpRequest asked =
        HttpRequest.newBuilder(engine.resolve(request.prologue().uriPath().rawPath()))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    HttpResponse<InputStream> answer =
        client.send(asked, HttpResponse.BodyHandlers.ofInputStream());
    String type = answer.headers().firstValue("content-type").orElse("");
    response.status(Status.create(answer.statusCode()));
    response.header(HeaderNames.CONTENT_TYPE, type);
    try (InputStream in = answer.body()) {
      if (!type.startsWith("text/event-stream")) {
        response.send(in.readAllBytes());
        return;
      }
      try (OutputStream out = response.outputStream()) {
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
          out.write(buffer, 0, length);
          out.flush();
        }
      }
    }
  }
}
