package dev.blackbox.proxy;

import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the bodies of model calls, written by a thread of its own: a call never waits for it. What
 * cannot be kept is dropped, counted, and noted.
 */
final class CallCaptures implements Resource {

  private static final System.Logger LOG = System.getLogger(CallCaptures.class.getName());

  private static final int WAITING_CALLS_MAX = 10_000;
  private static final Duration CLOSING_MAX = Duration.ofSeconds(5);
  private static final Duration HURRYING_MAX = Duration.ofSeconds(2);

  /** What the writer has to do. */
  private sealed interface Work {

    /** Holds a place. */
    record Write(CaptureFiles.Bodies bodies, long reserved) implements Work {}

    /** Holds a place. */
    record Note(String callId, String why) implements Work {}

    record End() implements Work {}
  }

  private final CaptureConfig config;
  private final InstantSource clock;
  private final KnownSecrets secrets = new KnownSecrets();
  private final BlockingQueue<Work> queue = new LinkedBlockingQueue<>();
  private final Semaphore places = new Semaphore(WAITING_CALLS_MAX);
  private final AtomicLong memory = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final @Nullable Thread writer;
  private volatile boolean closing;
  private volatile boolean hurrying;

  CallCaptures(CaptureConfig config, InstantSource clock) {
    this.config = config;
    this.clock = clock;
    if (!isOn()) {
      writer = null;
      return;
    }
    CaptureFiles files;
    try {
      files = CaptureFiles.open(config, clock.instant());
    } catch (IOException failed) {
      throw new UncheckedIOException(
          "bodies of model calls cannot be kept in " + config.directory(), failed);
    }
    writer = Thread.ofPlatform().daemon().name("call-captures").start(() -> work(files));
  }

  boolean isOn() {
    return config.mode() != CaptureConfig.Mode.OFF;
  }

  CaptureConfig config() {
    return config;
  }

  KnownSecrets secrets() {
    return secrets;
  }

  /** For one call. */
  CallCapture begin() {
    return new CallCapture(this);
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

  /** A place among the calls that wait to be written, for {@link #keep}. */
  boolean takePlace() {
    return !closing && places.tryAcquire();
  }

  void keep(CaptureFiles.Bodies bodies, long reserved) {
    queue.add(new Work.Write(bodies, reserved));
  }

  /** The bodies of a call are not kept. */
  void dropped(String callId, String why) {
    count(why);
    if (takePlace()) {
      queue.add(new Work.Note(callId, why));
    }
  }

  private void count(String why) {
    long count = dropped.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      LOG.log(
          System.Logger.Level.WARNING,
          "bodies of {0} model calls were not kept so far; of the last one: {1}",
          count,
          why);
    }
  }

  private void work(CaptureFiles files) {
    long told = 0;
    try {
      Work next;
      do {
        next = queue.take();
        switch (next) {
          case Work.Write write -> write(files, write);
          case Work.Note note -> {
            note(files, note.callId(), note.why());
            places.release();
          }
          case Work.End _ -> {}
        }
        long count = dropped.get();
        if (count != told && files.addDropped(count - told)) {
          told = count;
        }
      } while (!(next instanceof Work.End));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(CaptureFiles files, Work.Write next) {
    String callId = next.bodies().call().callId();
    try {
      if (hurrying) {
        throw new IOException("the server ended before it was written");
      }
      files.write(next.bodies(), secrets.trie());
    } catch (IOException | RuntimeException failed) {
      // Also after a mistake of ours: the thread must go on.
      String why = "not written: " + failed;
      count(why);
      note(files, callId, why);
    } finally {
      release(next.reserved());
      places.release();
    }
  }

  private void note(CaptureFiles files, String callId, String why) {
    files.gone().lost(callId, clock.instant(), why);
  }

  /** Writes what waits, for a while; what still waits then is dropped. */
  @Override
  public void close() {
    if (closing) {
      return;
    }
    closing = true;
    Thread running = writer;
    if (running == null) {
      return;
    }
    queue.add(new Work.End());
    try {
      if (!running.join(CLOSING_MAX)) {
        hurrying = true;
        if (!running.join(HURRYING_MAX)) {
          running.interrupt();
        }
      }
    } catch (InterruptedException interrupted) {
      running.interrupt();
      Thread.currentThread().interrupt();
    }
  }
}
