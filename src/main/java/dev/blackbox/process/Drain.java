package dev.blackbox.process;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads what a process prints, by one thread for both streams. It owns the pipes, so that it can
 * stop reading although a background child of the process still holds their other end: it never
 * waits for their end after the leader has gone.
 */
final class Drain {

  private static final int BUFFER_BYTES = 64 * 1024;

  /**
   * How long after the leader's end a child that keeps printing is still listened to. What the
   * leader itself printed is in the pipe by then, and is read in any case if it is read faster.
   */
  private static final Duration AFTER_END_MAX = Duration.ofMillis(200);

  private final List<Source> sources = new ArrayList<>();
  private final Native.Pipe wake;
  private final Thread thread;

  private static final class Source {
    private final Native.Pipe pipe;
    private final Capture capture;
    private boolean open = true;

    Source(Native.Pipe pipe, Capture capture) {
      this.pipe = pipe;
      this.capture = capture;
    }
  }

  Drain(String name) throws IOException {
    wake = Native.pipe();
    // A platform thread: poll(2) would hold a virtual thread's carrier for as long as it waits.
    thread = Thread.ofPlatform().daemon().name("drain-" + name).unstarted(this::readAll);
  }

  /** Makes a pipe; its end for the child is the returned file. Before {@link #start} only. */
  File add(Capture capture) throws IOException {
    Native.Pipe pipe = Native.pipe();
    sources.add(new Source(pipe, capture));
    // Java can redirect to a file only; Linux opens this one as the pipe itself.
    return new File("/proc/self/fd/" + pipe.writeEnd());
  }

  /** The child has its ends: from here on reading is the thread's work. */
  void start() {
    sources.forEach(source -> Native.close(source.pipe.writeEnd()));
    thread.start();
  }

  /** There will be no child: closes everything. */
  void abandon() {
    for (Source source : sources) {
      Native.close(source.pipe.writeEnd());
      Native.close(source.pipe.readEnd());
    }
    Native.close(wake.readEnd());
    Native.close(wake.writeEnd());
  }

  /** The leader has ended. Returns when everything it printed has been read. Call once. */
  void finish() {
    Native.writeByte(wake.writeEnd());
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException again) {
        interrupted = true; // the wait is bounded by AFTER_END_MAX; descriptors must not leak
      }
    }
    Native.close(wake.writeEnd());
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void readAll() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(BUFFER_BYTES);
      MemorySegment polled = arena.allocate((long) (sources.size() + 1) * Native.POLLFD_BYTES, 4);
      byte[] copy = new byte[BUFFER_BYTES];
      while (!pollOnce(polled, buffer, copy, -1)) {
        // until the leader has ended
      }
      long deadline = System.nanoTime() + AFTER_END_MAX.toNanos();
      while (System.nanoTime() < deadline && readReady(polled, buffer, copy)) {
        // what is in the pipes
      }
    } finally {
      sources.forEach(source -> Native.close(source.pipe.readEnd()));
      Native.close(wake.readEnd());
    }
  }

  /** Waits for output and reads it. True once the leader's end has been told. */
  private boolean pollOnce(
      MemorySegment polled, MemorySegment buffer, byte[] copy, int timeoutMillis) {
    int wakeIndex = sources.size();
    Native.setPollDescriptor(polled, wakeIndex, wake.readEnd());
    poll(polled, wakeIndex + 1, timeoutMillis);
    read(polled, buffer, copy);
    return Native.seen(polled, wakeIndex) != 0;
  }

  /** Reads what is there now. False if nothing was. */
  private boolean readReady(MemorySegment polled, MemorySegment buffer, byte[] copy) {
    poll(polled, sources.size(), 0);
    return read(polled, buffer, copy);
  }

  private void poll(MemorySegment polled, int count, int timeoutMillis) {
    for (int i = 0; i < sources.size(); i++) {
      // poll(2) skips negative descriptors
      Source source = sources.get(i);
      Native.setPollDescriptor(polled, i, source.open ? source.pipe.readEnd() : -1);
    }
    Native.poll(polled, count, timeoutMillis);
  }

  private boolean read(MemorySegment polled, MemorySegment buffer, byte[] copy) {
    boolean any = false;
    for (int i = 0; i < sources.size(); i++) {
      Source source = sources.get(i);
      if (source.open && Native.seen(polled, i) != 0) {
        int count = Native.read(source.pipe.readEnd(), buffer);
        if (count > 0) {
          MemorySegment.copy(buffer, JAVA_BYTE, 0, copy, 0, count);
          source.capture.add(copy, count);
          any = true;
        } else {
          source.open = false;
        }
      }
    }
    return any;
  }
}
