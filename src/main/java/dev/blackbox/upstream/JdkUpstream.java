package dev.blackbox.upstream;

import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * {@link Upstream} by the JDK's client, which takes every framing that engines use and lets another
 * thread end a call; see {@code docs/proxy.md} for the comparison with the web server's client.
 */
final class JdkUpstream implements Upstream {

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledThreadPoolExecutor timer;
  private final HttpClient client;

  JdkUpstream(Duration connectTimeout) {
    timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("upstream-timer").daemon(true).factory());
    timer.setRemoveOnCancelPolicy(true);
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            // Not the default selector: it would obey the http.proxyHost system property.
            .proxy(HttpClient.Builder.NO_PROXY)
            .connectTimeout(connectTimeout)
            .executor(executor)
            .build();
  }

  @Override
  public UpstreamCall begin(UpstreamRequest request) {
    byte[] body = request.body();
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(request.uri())
            .timeout(request.deadlines().firstByte())
            .method(
                request.method(),
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body));
    request
        .headers()
        .forEach((name, values) -> values.forEach(value -> builder.header(name, value)));
    CompletableFuture<HttpResponse<InputStream>> answer =
        client.sendAsync(builder.build(), HttpResponse.BodyHandlers.ofInputStream());
    return new JdkUpstreamCall(answer, request.deadlines(), timer);
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
    timer.shutdownNow();
    executor.close();
  }
}
