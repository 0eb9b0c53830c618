package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Resource;
import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the bodies of model calls, written by a thread of its own: a call never waits for it. What
 * cannot be kept is dropped, and counted.
 */
final class CallCaptures implements Resource {

  private static final System.Logger LOG = System.getLogger(CallCaptures.class.getName());

  private static final int WAITING_CALLS_MAX = 10_000;
  private static final int SECRETS_MAX = 256;
  private static final Duration IDLE = Duration.ofMillis(200);
  private static final Duration CLOSING_MAX = Duration.ofSeconds(5);

  private record Waiting(CaptureFiles.Bodies bodies, long reserved) {}

  private final CaptureConfig config;
  private final BlockingQueue<Waiting> queue = new LinkedBlockingQueue<>(WAITING_CALLS_MAX);
  private final AtomicLong memory = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final ReentrantLock lock = new ReentrantLock();
  private final @Nullable Thread writer;
  private volatile boolean closing;

  /** What must not be written: the keys of bindings and turns, the last ones. */
  @GuardedBy("lock")
  private final Deque<byte[]> secrets = new ArrayDeque<>();

  CallCaptures(CaptureConfig config) {
    this.config = config;
    if (!isOn()) {
      writer = null;
      return;
    }
    CaptureFiles files;
    try {
      files = CaptureFiles.open(config.directory(), config.diskBytesMax());
    } catch (IOException failed) {
      throw new UncheckedIOException(
          "bodies of model calls cannot be kept in " + config.directory(), failed);
    }
    writer = Thread.ofPlatform().daemon().name("call-captures").start(() -> write(files));
  }

  boolean isOn() {
    return config.mode() != CaptureConfig.Mode.OFF;
  }

  CaptureConfig config() {
    return config;
  }

  /** For one call. */
  CallCapture begin() {
    return new CallCapture(this);
  }

  /** Never lets this be written from now on. */
  void hide(Secret secret) {
    if (!isOn() || secret.reveal().isEmpty()) {
      return;
    }
    lock.lock();
    try {
      secrets.addLast(secret.reveal().getBytes(StandardCharsets.UTF_8));
      if (secrets.size() > SECRETS_MAX) {
        secrets.removeFirst();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean reserve(long bytes) {
    if (memory.addAndGet(bytes) <= config.memoryBytesMax()) {
      return true;
    }
    release(bytes);
    return false;
  }

  void release(long bytes) {
    memory.addAndGet(-bytes);
  }

  void keep(CaptureFiles.Bodies bodies, long reserved) {
    if (closing || !queue.offer(new Waiting(bodies, reserved))) {
      release(reserved);
      dropped("too many calls wait to be written");
    }
  }

  /** The bodies of a call are not kept. */
  void dropped(String why) {
    long count = dropped.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      LOG.log(
          System.Logger.Level.WARNING,
          "bodies of {0} model calls were not kept so far; of the last one since {1}",
          count,
          why);
    }
  }

  private void write(CaptureFiles files) {
    long told = 0;
    try {
      while (!closing || !queue.isEmpty()) {
        Waiting next = queue.poll(IDLE.toMillis(), TimeUnit.MILLISECONDS);
        if (next != null) {
          write(files, next);
        }
        long count = dropped.get();
        if (count != told) {
          files.addDropped(count - told);
          told = count;
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(CaptureFiles files, Waiting next) {
    try {
      files.write(next.bodies(), secrets());
    } catch (IOException failed) {
      dropped("it cannot be written: " + failed.getClass().getSimpleName());
    } finally {
      release(next.reserved());
    }
  }

  private List<byte[]> secrets() {
    lock.lock();
    try {
      return List.copyOf(secrets);
    } finally {
      lock.unlock();
    }
  }

  /** Writes what waits, for a while. */
  @Override
  public void close() {
    closing = true;
    Thread running = writer;
    if (running == null) {
      return;
    }
    try {
      if (!running.join(CLOSING_MAX)) {
        running.interrupt();
      }
    } catch (InterruptedException interrupted) {
      running.interrupt();
      Thread.currentThread().interrupt();
    }
  }
}
