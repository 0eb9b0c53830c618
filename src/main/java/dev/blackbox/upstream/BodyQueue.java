package dev.blackbox.upstream;

import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A body on its way from the client's threads to the one that reads it. Unlike the JDK's input
 * stream it hands out what came before a failure, and a read can have a time limit. At most one
 * batch is taken ahead of the reader.
 */
final class BodyQueue implements HttpResponse.BodySubscriber<BodyQueue> {

  /** What the client tells us, in its order. */
  private sealed interface Signal {

    record Bytes(List<ByteBuffer> buffers) implements Signal {}

    record Failed(Throwable cause) implements Signal {}

    record Ended() implements Signal {}

    record Closed() implements Signal {}
  }

  /** What a read comes to. */
  sealed interface Result {

    /** Number of bytes, or -1 at the end. */
    record Read(int length) implements Result {}

    record Broken(Throwable cause) implements Result {}

    record TimedOut() implements Result {}

    record Closed() implements Result {}
  }

  private static final Result END = new Result.Read(-1);

  private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
  private final Deque<ByteBuffer> atHand = new ArrayDeque<>();
  private volatile Flow.@Nullable Subscription subscription;
  private volatile boolean closed;
  private boolean ended;

  @Override
  public CompletionStage<BodyQueue> getBody() {
    return CompletableFuture.completedStage(this);
  }

  @Override
  public void onSubscribe(Flow.Subscription subscribed) {
    subscription = subscribed;
    if (closed) {
      subscribed.cancel();
    } else {
      subscribed.request(1);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    signals.add(new Signal.Bytes(buffers));
  }

  // A subscription that has come to its end must not be cancelled: the client would then not close
  // the connection of an answer that ends with it.

  @Override
  public void onError(Throwable cause) {
    subscription = null;
    signals.add(new Signal.Failed(cause));
  }

  @Override
  public void onComplete() {
    subscription = null;
    signals.add(new Signal.Ended());
  }

  /** Reads at least one byte; by one thread only. */
  Result read(byte[] into, long nanosMax) throws InterruptedException {
    while (atHand.isEmpty()) {
      if (closed) {
        return new Result.Closed();
      }
      if (ended) {
        return END;
      }
      switch (signals.poll(nanosMax, TimeUnit.NANOSECONDS)) {
        case null -> {
          return new Result.TimedOut();
        }
        case Signal.Bytes(var buffers) -> take(buffers);
        case Signal.Ended _ -> ended = true;
        case Signal.Closed _ -> {
          return new Result.Closed();
        }
        case Signal.Failed(var cause) -> {
          return new Result.Broken(cause);
        }
      }
    }
    return new Result.Read(copy(into));
  }

  /** Drops the body; by any thread. Whole bodies leave their connection for another call. */
  void close() {
    closed = true;
    Flow.Subscription subscribed = subscription;
    if (subscribed != null) {
      subscribed.cancel();
    }
    signals.add(new Signal.Closed());
  }

  private void take(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      if (buffer.hasRemaining()) {
        atHand.add(buffer);
      }
    }
    Flow.Subscription subscribed = subscription;
    if (subscribed != null) {
      subscribed.request(1);
    }
  }

  private int copy(byte[] into) {
    int length = 0;
    while (length < into.length && !atHand.isEmpty()) {
      ByteBuffer buffer = atHand.getFirst();
      int part = Math.min(buffer.remaining(), into.length - length);
      buffer.get(into, length, part);
      length += part;
      if (!buffer.hasRemaining()) {
        atHand.removeFirst();
      }
    }
    return length;
  }
}
