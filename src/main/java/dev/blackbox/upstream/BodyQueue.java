package dev.blackbox.upstream;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A body on its way from the client's thread to the one that reads it. Unlike the JDK's input
 * stream it hands out what came before a failure, and a read can have a time limit.
 *
 * <p>The client's thread asks for more by itself as long as the reader keeps up, since a request
 * from another thread wakes it an extra time: for each piece of a stream that would cost more than
 * the piece. What waits for the reader is bounded by {@link #AHEAD_BYTES_MAX} and one more batch.
 */
final class BodyQueue implements HttpResponse.BodySubscriber<BodyQueue> {

  /** Two of the client's reads. */
  private static final int AHEAD_BYTES_MAX = 32 << 10;

  /** What a read comes to. */
  sealed interface Result {

    /** Number of bytes, or -1 at the end. */
    record Read(int length) implements Result {}

    record Broken(Throwable cause) implements Result {}

    record TimedOut() implements Result {}

    record Closed() implements Result {}
  }

  private static final Result END = new Result.Read(-1);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition moved = lock.newCondition();

  @GuardedBy("lock")
  private final Deque<ByteBuffer> waiting = new ArrayDeque<>();

  @GuardedBy("lock")
  private int waitingBytes;

  /** The reader has to ask for more, because the client's thread did not. */
  @GuardedBy("lock")
  private boolean held;

  @GuardedBy("lock")
  private Flow.@Nullable Subscription subscription;

  /** How it ended, once it did: what waits comes first. */
  @GuardedBy("lock")
  private @Nullable Result end;

  @GuardedBy("lock")
  private boolean closed;

  @Override
  public CompletionStage<BodyQueue> getBody() {
    return CompletableFuture.completedStage(this);
  }

  @Override
  public void onSubscribe(Flow.Subscription subscribed) {
    boolean tooLate;
    lock.lock();
    try {
      subscription = subscribed;
      tooLate = closed;
    } finally {
      lock.unlock();
    }
    if (tooLate) {
      subscribed.cancel();
    } else {
      subscribed.request(1);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    Flow.Subscription goesOn = null;
    lock.lock();
    try {
      for (ByteBuffer buffer : buffers) {
        if (buffer.hasRemaining()) {
          waiting.add(buffer);
          waitingBytes += buffer.remaining();
        }
      }
      if (waitingBytes < AHEAD_BYTES_MAX) {
        goesOn = subscription;
      } else {
        held = true;
      }
      moved.signal();
    } finally {
      lock.unlock();
    }
    if (goesOn != null) {
      goesOn.request(1);
    }
  }

  @Override
  public void onError(Throwable cause) {
    ended(new Result.Broken(cause));
  }

  @Override
  public void onComplete() {
    ended(END);
  }

  /**
   * A subscription that has come to its end must not be cancelled: the client would then not close
   * the connection of an answer that ends with it.
   */
  private void ended(Result how) {
    lock.lock();
    try {
      subscription = null;
      if (end == null) {
        end = how;
      }
      moved.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Reads at least one byte; by one thread only. */
  Result read(byte[] into, long nanosMax) throws InterruptedException {
    Flow.Subscription goesOn = null;
    int length;
    lock.lockInterruptibly();
    try {
      long left = nanosMax;
      while (waiting.isEmpty() && end == null && !closed) {
        if (left <= 0) {
          return new Result.TimedOut();
        }
        left = moved.awaitNanos(left);
      }
      if (closed) {
        return new Result.Closed();
      }
      if (waiting.isEmpty()) {
        return Objects.requireNonNull(end);
      }
      length = copy(into);
      if (held && waitingBytes < AHEAD_BYTES_MAX) {
        held = false;
        goesOn = subscription;
      }
    } finally {
      lock.unlock();
    }
    if (goesOn != null) {
      goesOn.request(1);
    }
    return new Result.Read(length);
  }

  /** Drops the body; by any thread. Whole bodies leave their connection for another call. */
  void close() {
    Flow.Subscription subscribed;
    lock.lock();
    try {
      closed = true;
      subscribed = subscription;
      waiting.clear();
      moved.signal();
    } finally {
      lock.unlock();
    }
    if (subscribed != null) {
      subscribed.cancel();
    }
  }

  @GuardedBy("lock")
  private int copy(byte[] into) {
    int length = 0;
    while (length < into.length && !waiting.isEmpty()) {
      ByteBuffer buffer = waiting.getFirst();
      int part = Math.min(buffer.remaining(), into.length - length);
      buffer.get(into, length, part);
      length += part;
      if (!buffer.hasRemaining()) {
        waiting.removeFirst();
      }
    }
    waitingBytes -= length;
    return length;
  }
}
