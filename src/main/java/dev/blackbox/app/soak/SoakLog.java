package dev.blackbox.app.soak;

import dev.blackbox.kernel.Resource;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Everything that was done and heard, with the time, in a file; and the first broken promise, which
 * ends the soak. Thread-safe.
 */
final class SoakLog implements Resource {

  private final Path file;
  private final BufferedWriter writer;
  private final long startedNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable String violation;
  private boolean closed;

  private SoakLog(Path file, BufferedWriter writer) {
    this.file = file;
    this.writer = writer;
  }

  static SoakLog create(Path file) throws IOException {
    return new SoakLog(file, Files.newBufferedWriter(file));
  }

  Path file() {
    return file;
  }

  /** A line of the log, forced to be there at once: the soak itself may be killed too. */
  void say(String who, String what) {
    lock.lock();
    try {
      if (!closed) {
        writer.write(
            String.format(
                Locale.ROOT,
                "%10.3f  %-9s %s%n",
                (System.nanoTime() - startedNanos) / 1e9,
                who,
                what));
        writer.flush();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("the soak's log cannot be written: " + file, failure);
    } finally {
      lock.unlock();
    }
  }

  /** A promise is broken. Only the first counts, as what follows may be its consequence. */
  void broken(String who, String what) {
    lock.lock();
    try {
      say(who, "VIOLATION " + what);
      if (violation == null) {
        violation = what;
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isBroken() {
    return violation != null;
  }

  Optional<String> violation() {
    return Optional.ofNullable(violation);
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      writer.close();
    } catch (IOException failure) {
      throw new UncheckedIOException("the soak's log cannot be closed: " + file, failure);
    } finally {
      lock.unlock();
    }
  }
}
