package dev.blackbox.upstream;

import dev.blackbox.upstream.UpstreamException.Kind;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A call of the JDK's client, with the deadlines and the closing that it lacks. */
final class JdkUpstreamCall implements UpstreamCall {

  private static final Duration LONGEST = Duration.ofDays(10_000);

  private final CompletableFuture<UpstreamHead> head = new CompletableFuture<>();
  private final UpstreamDeadlines deadlines;
  private final long startedNanos = System.nanoTime();
  private volatile @Nullable Future<?> sending;
  private volatile @Nullable BodyQueue body;
  private volatile boolean closed;
  private long idleNanos;

  /** Whether the reading thread waits for bytes, and since when; time elsewhere does not count. */
  private boolean waiting;

  private long waitingSinceNanos;

  JdkUpstreamCall(UpstreamDeadlines deadlines) {
    this.deadlines = deadlines;
    this.idleNanos = nanos(deadlines.idle());
  }

  /**
   * Sends on a thread of its own, not with the client's {@code sendAsync}: that needs the common
   * pool, which has one thread on a small machine, and anybody may block it.
   */
  void run(ExecutorService executor, Callable<HttpResponse<BodyQueue>> send) {
    sending =
        executor.submit(
            () -> {
              try {
                send.call();
              } catch (Exception failed) {
                head.completeExceptionally(failed);
                BodyQueue queue = body;
                if (queue != null) {
                  queue.onError(failed);
                }
              }
            });
  }

  /**
   * The head has come: the queue for the body. Who waits for the head is told now, not when the
   * client's call returns: an answer that broke off by then makes that fail, and what came of it
   * would be lost.
   */
  BodyQueue answered(HttpResponse.ResponseInfo info) {
    BodyQueue queue = new BodyQueue();
    body = queue;
    if (closed) {
      // It was closed between the head's coming and the line before.
      queue.close();
    }
    head.complete(new UpstreamHead(info.statusCode(), info.headers().map()));
    return queue;
  }

  @Override
  public UpstreamHead head() throws UpstreamException {
    Optional<UpstreamHead> come = Optional.empty();
    while (come.isEmpty()) {
      come = head(LONGEST);
    }
    return come.get();
  }

  @Override
  public Optional<UpstreamHead> head(Duration patience) throws UpstreamException {
    long left = nanosLeft(nanos(deadlines.firstByte()) - (System.nanoTime() - startedNanos));
    try {
      return Optional.of(head.get(Math.min(left, nanos(patience)), TimeUnit.NANOSECONDS));
    } catch (TimeoutException late) {
      if (nanos(patience) < left) {
        return Optional.empty();
      }
      close();
      throw new UpstreamException(
          Kind.TIMEOUT,
          "no answer from the engine within "
              + Duration.ofNanos(System.nanoTime() - startedNanos).toMillis()
              + " ms",
          late);
    } catch (ExecutionException failed) {
      throw failure(failed.getCause());
    } catch (CancellationException closedMeanwhile) {
      throw cancelled();
    } catch (InterruptedException interrupted) {
      throw interrupted();
    }
  }

  @Override
  public int read(byte[] into) throws UpstreamException {
    int length = 0;
    while (length == 0) {
      length = read(into, LONGEST);
    }
    return length;
  }

  @Override
  public int read(byte[] into, Duration patience) throws UpstreamException {
    BodyQueue queue = body;
    if (queue == null) {
      throw new IllegalStateException("the head comes before the body");
    }
    if (!waiting) {
      waiting = true;
      waitingSinceNanos = System.nanoTime();
    }
    long left = nanosLeft(idleNanos - (System.nanoTime() - waitingSinceNanos));
    try {
      return switch (queue.read(into, Math.min(left, nanos(patience)))) {
        case BodyQueue.Result.Read(int length) -> {
          waiting = false;
          yield length;
        }
        case BodyQueue.Result.Closed _ -> throw cancelled();
        case BodyQueue.Result.Broken(var cause) -> throw failure(cause);
        case BodyQueue.Result.TimedOut _ -> {
          if (nanos(patience) < left) {
            yield 0;
          }
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
    idleNanos = nanos(timeout);
    waiting = false;
  }

  @Override
  public void close() {
    closed = true;
    head.cancel(false);
    Future<?> sender = sending;
    if (sender != null) {
      sender.cancel(true);
    }
    BodyQueue queue = body;
    if (queue != null) {
      queue.close();
    }
  }

  /** So long, but not beyond the end of the whole. */
  private long nanosLeft(long atMost) {
    long bounded = Math.max(0, atMost);
    Optional<Duration> total = deadlines.total();
    if (total.isEmpty()) {
      return bounded;
    }
    long left = nanos(total.get()) - (System.nanoTime() - startedNanos);
    return Math.clamp(left, 0, bounded);
  }

  /** Sums of durations are to stay within a long. */
  private static long nanos(Duration duration) {
    return duration.compareTo(LONGEST) < 0 ? duration.toNanos() : LONGEST.toNanos();
  }

  private UpstreamException failure(@Nullable Throwable cause) {
    if (closed) {
      return cancelled();
    }
    return switch (cause) {
      case HttpConnectTimeoutException timeout ->
          new UpstreamException(Kind.TIMEOUT, "no connection to the engine in time", timeout);
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
        "no further bytes from the engine within "
            + Duration.ofNanos(System.nanoTime() - waitingSinceNanos).toMillis()
            + " ms",
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
