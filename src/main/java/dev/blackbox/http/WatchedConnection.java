package dev.blackbox.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * A connection that does not wait for its client for ever. Helidon's own timeouts end only
 * connections that are idle between requests; this one also says that it is idle when the client
 * owes us something (a request's head or body, or room for our answer) for too long, and is then
 * closed by the same watchdog of Helidon's.
 *
 * <p>It closes the socket, and does not interrupt the thread: an interrupt may hit a file that the
 * thread just reads, and closes it for everybody.
 */
final class WatchedConnection implements ServerConnection, InterruptableTask<Void> {

  private static final ScopedValue<WatchedConnection> CURRENT = ScopedValue.newInstance();

  private static final long NOTHING_EXPECTED = Long.MAX_VALUE;

  /**
   * After an early refusal, how much more of the request is read and thrown away, so that the
   * client gets to read the refusal: closing with unread input resets the connection.
   */
  private static final long DISCARDED_BYTES_MAX = 64L << 20;

  private static final Duration DISCARDING_MAX = Duration.ofSeconds(2);

  private final ServerConnection http;
  private final ConnectionContext context;
  private volatile long expectedUntilNanos = NOTHING_EXPECTED;
  private volatile boolean refusedEarly;

  WatchedConnection(ServerConnection http, ConnectionContext context, Duration firstRequest) {
    this.http = http;
    this.context = context;
    expectWithin(firstRequest);
  }

  /** The connection that this thread serves. */
  static WatchedConnection current() {
    return CURRENT.get();
  }

  /** From now on the client must do its part within {@code limit}, or the connection is closed. */
  void expectWithin(Duration limit) {
    expectedUntilNanos = System.nanoTime() + limit.toNanos();
  }

  void expectNothing() {
    expectedUntilNanos = NOTHING_EXPECTED;
  }

  /**
   * The request will be answered before all of it was read; the connection cannot be used again.
   */
  void refuseEarly() {
    refusedEarly = true;
  }

  boolean isRefusedEarly() {
    return refusedEarly;
  }

  @Override
  public void handle(Limit limit) throws InterruptedException {
    ScopedValue.where(CURRENT, this)
        .<Object, InterruptedException>call(
            () -> {
              try {
                http.handle(limit);
                discardRest();
              } catch (CloseConnectionException closing) {
                discardRest();
                throw closing;
              }
              return this;
            });
  }

  @Override
  public Duration idleTime() {
    return isOverdue() ? ChronoUnit.FOREVER.getDuration() : http.idleTime();
  }

  @Override
  public void close(boolean interrupt) {
    if (isOverdue()) {
      closeSocket();
    } else {
      http.close(interrupt);
    }
  }

  @Override
  public boolean canInterrupt() {
    return http instanceof InterruptableTask<?> task && task.canInterrupt();
  }

  private void closeSocket() {
    try {
      context.serverSocket().close();
    } catch (UncheckedIOException alreadyClosed) {
      // Then the thread that serves it knows by now.
    }
  }

  private boolean isOverdue() {
    long until = expectedUntilNanos;
    return until != NOTHING_EXPECTED && System.nanoTime() - until > 0;
  }

  private void discardRest() {
    if (!refusedEarly) {
      return;
    }
    expectWithin(DISCARDING_MAX);
    DataReader reader = context.dataReader();
    try {
      for (long discarded = 0; discarded < DISCARDED_BYTES_MAX; ) {
        reader.ensureAvailable();
        int available = reader.available();
        reader.skip(available);
        discarded += available;
      }
    } catch (RuntimeException ended) {
      // The client closed, or its time was over: either way nobody waits for anything any more.
    }
  }
}
