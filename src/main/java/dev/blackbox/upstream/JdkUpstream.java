package dev.blackbox.upstream;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * {@link Upstream} by the JDK's client, which takes every framing that engines use and lets another
 * thread end a call; see {@code docs/decisions/0002-engine-client-and-departures.md}.
 */
final class JdkUpstream implements Upstream {

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final Duration connectTimeout;
  private final HttpClient plain;
  private final ReentrantLock lock = new ReentrantLock();

  /** Made when it is needed: few engines are asked over TLS. */
  @GuardedBy("lock")
  private @Nullable HttpClient secure;

  JdkUpstream(Duration connectTimeout) {
    this.connectTimeout = connectTimeout;
    // On the client's own thread: what it does there is to pass bytes on, and nothing of ours waits
    // in it. Another thread for each piece of a stream costs a third more.
    this.plain = client(Runnable::run);
  }

  private HttpClient client(Executor workers) {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        // Not the default selector: it would obey the http.proxyHost system property.
        .proxy(HttpClient.Builder.NO_PROXY)
        .connectTimeout(connectTimeout)
        .executor(workers)
        .build();
  }

  private HttpClient clientFor(URI engine) {
    if (!"https".equalsIgnoreCase(engine.getScheme())) {
      return plain;
    }
    lock.lock();
    try {
      HttpClient made = secure;
      if (made == null) {
        // Handshakes of many connections at once would wait for one another on a single thread.
        made = client(executor);
        secure = made;
      }
      return made;
    } finally {
      lock.unlock();
    }
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
    HttpClient client = clientFor(request.uri());
    call.run(executor, () -> client.send(builder.build(), call::answered));
    return call;
  }

  @Override
  public void close() {
    close(plain);
    HttpClient made;
    lock.lock();
    try {
      made = secure;
    } finally {
      lock.unlock();
    }
    if (made != null) {
      close(made);
    }
    executor.close();
  }

  private static void close(HttpClient client) {
    client.shutdownNow();
    client.close();
  }
}
