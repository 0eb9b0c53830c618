package dev.blackbox.upstream;

import dev.blackbox.upstream.UpstreamException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A call of the JDK's client, with the deadlines and the closing that it lacks. */
final class JdkUpstreamCall implements UpstreamCall {

  private final CompletableFuture<HttpResponse<InputStream>> answer;
  private final UpstreamDeadlines deadlines;
  private final ScheduledThreadPoolExecutor timer;
  private final Optional<Future<?>> totalTimer;

  /** Why the call was ended by us; the first reason stands. */
  private final AtomicReference<@Nullable UpstreamException> ended = new AtomicReference<>();

  private volatile @Nullable InputStream body;
  private volatile @Nullable Future<?> idleTimer;
  private volatile long idleNanos;

  /** When the reader began to wait ({@link System#nanoTime}); meaningful while it waits. */
  private volatile long waitingSince;

  private volatile boolean waiting;

  JdkUpstreamCall(
      CompletableFuture<HttpResponse<InputStream>> answer,
      UpstreamDeadlines deadlines,
      ScheduledThreadPoolExecutor timer) {
    this.answer = answer;
    this.deadlines = deadlines;
    this.timer = timer;
    this.idleNanos = deadlines.idle().toNanos();
    this.totalTimer =
        deadlines
            .total()
            .map(
                total ->
                    timer.schedule(
                        () -> end(timedOut("no whole answer", total)),
                        total.toNanos(),
                        TimeUnit.NANOSECONDS));
  }

  @Override
  public UpstreamHead head() throws UpstreamException {
    HttpResponse<InputStream> response = response();
    body = response.body();
    if (ended.get() != null) {
      closeBody();
      throw failure(null);
    }
    idleTimer = timer.schedule(this::checkIdle, idleNanos, TimeUnit.NANOSECONDS);
    return new UpstreamHead(response.statusCode(), response.headers().map());
  }

  private HttpResponse<InputStream> response() throws UpstreamException {
    try {
      return answer.get();
    } catch (ExecutionException failed) {
      throw failure(failed.getCause());
    } catch (CancellationException cancelled) {
      throw failure(cancelled);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      close();
      throw failure(interrupted);
    }
  }

  @Override
  public int read(byte[] into) throws UpstreamException {
    InputStream stream = body;
    if (stream == null) {
      throw new IllegalStateException("the head comes before the body");
    }
    waitingSince = System.nanoTime();
    waiting = true;
    try {
      int length = stream.read(into);
      if (ended.get() != null) {
        throw failure(null);
      }
      return length;
    } catch (IOException broken) {
      throw failure(broken);
    } finally {
      waiting = false;
    }
  }

  @Override
  public void idleTimeout(Duration timeout) {
    idleNanos = timeout.toNanos();
    Future<?> old = idleTimer;
    if (old != null) {
      old.cancel(false);
      idleTimer = timer.schedule(this::checkIdle, idleNanos, TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public void close() {
    end(new UpstreamException(Kind.CANCELLED, "the call was cancelled", null));
    totalTimer.ifPresent(pending -> pending.cancel(false));
    Future<?> idle = idleTimer;
    if (idle != null) {
      idle.cancel(false);
    }
  }

  /** One timer per call, not one per read: it comes back when the present wait would be over. */
  private void checkIdle() {
    long left =
        waiting ? idleNanos - (System.nanoTime() - waitingSince) : Math.max(idleNanos / 4, 1);
    if (left <= 0) {
      end(timedOut("no further bytes", Duration.ofNanos(idleNanos)));
    } else if (ended.get() == null) {
      idleTimer = timer.schedule(this::checkIdle, left, TimeUnit.NANOSECONDS);
    }
  }

  private void end(UpstreamException reason) {
    if (ended.compareAndSet(null, reason)) {
      answer.cancel(true);
      closeBody();
    }
  }

  private void closeBody() {
    InputStream open = body;
    if (open != null) {
      try {
        open.close();
      } catch (IOException alreadyBroken) {
        // It is being dropped: how it ends does not matter any more.
        return;
      }
    }
  }

  private UpstreamException failure(@Nullable Throwable cause) {
    UpstreamException ours = ended.get();
    if (ours != null) {
      return ours;
    }
    return switch (cause) {
      case HttpConnectTimeoutException timeout ->
          new UpstreamException(Kind.TIMEOUT, "no connection to the engine in time", timeout);
      case HttpTimeoutException timeout -> timedOut("no answer", deadlines.firstByte(), timeout);
      case ConnectException refused ->
          new UpstreamException(Kind.UNREACHABLE, "the engine cannot be reached", refused);
      case null, default ->
          new UpstreamException(
              Kind.BROKEN, "the engine's answer broke off: " + shortReason(cause), cause);
    };
  }

  private static String shortReason(@Nullable Throwable cause) {
    String message = cause == null ? null : cause.getMessage();
    return message == null ? "connection lost" : message;
  }

  private static UpstreamException timedOut(String what, Duration limit) {
    return timedOut(what, limit, null);
  }

  private static UpstreamException timedOut(
      String what, Duration limit, @Nullable Throwable cause) {
    return new UpstreamException(
        Kind.TIMEOUT, what + " from the engine within " + limit.toMillis() + " ms", cause);
  }
}
