package dev.blackbox.upstream;

import dev.blackbox.upstream.UpstreamException.Kind;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A call of the JDK's client, with the deadlines and the closing that it lacks. */
final class JdkUpstreamCall implements UpstreamCall {

  private final CompletableFuture<HttpResponse<BodyQueue>> answer;
  private final UpstreamDeadlines deadlines;
  private final long startedNanos = System.nanoTime();
  private volatile @Nullable BodyQueue body;
  private volatile boolean closed;
  private long idleNanos;

  JdkUpstreamCall(CompletableFuture<HttpResponse<BodyQueue>> answer, UpstreamDeadlines deadlines) {
    this.answer = answer;
    this.deadlines = deadlines;
    this.idleNanos = deadlines.idle().toNanos();
  }

  @Override
  public UpstreamHead head() throws UpstreamException {
    HttpResponse<BodyQueue> response = response();
    body = response.body();
    if (closed) {
      // It was closed between the head's coming and the line before.
      response.body().close();
      throw cancelled();
    }
    return new UpstreamHead(response.statusCode(), response.headers().map());
  }

  @Override
  public int read(byte[] into) throws UpstreamException {
    BodyQueue queue = body;
    if (queue == null) {
      throw new IllegalStateException("the head comes before the body");
    }
    try {
      return switch (queue.read(into, nanosForNextRead())) {
        case BodyQueue.Result.Read(int length) -> length;
        case BodyQueue.Result.Closed _ -> throw cancelled();
        case BodyQueue.Result.Broken(var cause) -> throw failure(cause);
        case BodyQueue.Result.TimedOut _ -> {
          close();
          throw readTimedOut();
        }
      };
    } catch (InterruptedException interrupted) {
      throw interrupted();
    }
  }

  @Override
  public void idleTimeout(Duration timeout) {
    idleNanos = timeout.toNanos();
  }

  @Override
  public void close() {
    closed = true;
    answer.cancel(true);
    BodyQueue queue = body;
    if (queue != null) {
      queue.close();
    }
  }

  private HttpResponse<BodyQueue> response() throws UpstreamException {
    try {
      return answer.get();
    } catch (ExecutionException failed) {
      throw failure(failed.getCause());
    } catch (CancellationException closedMeanwhile) {
      throw cancelled();
    } catch (InterruptedException interrupted) {
      throw interrupted();
    }
  }

  private long nanosForNextRead() {
    Optional<Duration> total = deadlines.total();
    if (total.isEmpty()) {
      return idleNanos;
    }
    long left = total.get().toNanos() - (System.nanoTime() - startedNanos);
    return Math.max(0, Math.min(left, idleNanos));
  }

  private UpstreamException failure(@Nullable Throwable cause) {
    if (closed) {
      return cancelled();
    }
    return switch (cause) {
      case HttpConnectTimeoutException timeout ->
          new UpstreamException(Kind.TIMEOUT, "no connection to the engine in time", timeout);
      case HttpTimeoutException timeout ->
          new UpstreamException(
              Kind.TIMEOUT,
              "no answer from the engine within " + deadlines.firstByte().toMillis() + " ms",
              timeout);
      case ConnectException refused ->
          new UpstreamException(Kind.UNREACHABLE, "the engine cannot be reached", refused);
      case null, default ->
          new UpstreamException(
              Kind.BROKEN, "the engine's answer broke off: " + shortReason(cause), cause);
    };
  }

  private UpstreamException readTimedOut() {
    return new UpstreamException(
        Kind.TIMEOUT,
        "no further bytes from the engine within " + Duration.ofNanos(idleNanos).toMillis() + " ms",
        null);
  }

  private UpstreamException interrupted() {
    Thread.currentThread().interrupt();
    close();
    return cancelled();
  }

  private static UpstreamException cancelled() {
    return new UpstreamException(Kind.CANCELLED, "the call was cancelled", null);
  }

  private static String shortReason(@Nullable Throwable cause) {
    String message = cause == null ? null : cause.getMessage();
    return message == null ? "connection lost" : message;
  }
}
