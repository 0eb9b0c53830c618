package dev.blackbox.upstream;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * {@link Upstream} by the JDK's client, which takes every framing that engines use and lets another
 * thread end a call; see {@code docs/decisions/0002-engine-client-and-departures.md}.
 */
final class JdkUpstream implements Upstream {

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client;

  JdkUpstream(Duration connectTimeout) {
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            // Not the default selector: it would obey the http.proxyHost system property.
            .proxy(HttpClient.Builder.NO_PROXY)
            .connectTimeout(connectTimeout)
            // On the client's own thread: what it does there is to pass bytes on, and nothing of
            // ours waits in it. Another thread for each piece of a stream costs a third more.
            .executor(Runnable::run)
            .build();
  }

  @Override
  public UpstreamCall begin(UpstreamRequest request) {
    byte[] body = request.body();
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(request.uri())
            .method(
                request.method(),
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body));
    request
        .headers()
        .forEach((name, values) -> values.forEach(value -> builder.header(name, value)));
    JdkUpstreamCall call = new JdkUpstreamCall(request.deadlines());
    call.run(executor, () -> client.send(builder.build(), call::answered));
    return call;
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
    executor.close();
  }
}
