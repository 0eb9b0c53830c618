package dev.blackbox.ledger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Real files whose operations fail while their name is in {@link #failing}. A failing append writes
 * half of the bytes first; a failing force leaves all of them there, as real ones do.
 */
final class FaultyFiles implements JournalFiles {

  enum Operation {
    CREATE,
    APPEND,
    FORCE,
    TRUNCATE,
    RENAME,
    DELETE,
    FORCE_DIRECTORY
  }

  final Set<Operation> failing = ConcurrentHashMap.newKeySet();
  final AtomicInteger appends = new AtomicInteger();
  final AtomicInteger forces = new AtomicInteger();

  /** Runs after each good force, on the writer's thread. */
  volatile Runnable afterForce = () -> {};

  private volatile JournalFiles real = JournalFiles.in(Path.of("nowhere"));

  void use(Path directory) {
    real = JournalFiles.in(directory);
  }

  private void check(Operation operation) throws IOException {
    if (failing.contains(operation)) {
      throw new IOException("planted: " + operation);
    }
  }

  @Override
  public List<String> list() throws IOException {
    return real.list();
  }

  @Override
  public Output create(String name) throws IOException {
    check(Operation.CREATE);
    Output output = real.create(name);
    return new Output() {
      @Override
      public void append(ByteBuffer bytes) throws IOException {
        if (failing.contains(Operation.APPEND)) {
          output.append(bytes.slice(bytes.position(), bytes.remaining() / 2));
        }
        check(Operation.APPEND);
        output.append(bytes);
        appends.incrementAndGet();
      }

      @Override
      public void force() throws IOException {
        check(Operation.FORCE);
        output.force();
        forces.incrementAndGet();
        afterForce.run();
      }

      @Override
      public void truncate(long size) throws IOException {
        check(Operation.TRUNCATE);
        output.truncate(size);
      }

      @Override
      public void close() throws IOException {
        output.close();
      }
    };
  }

  @Override
  public Input open(String name) throws IOException {
    return real.open(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    check(Operation.RENAME);
    real.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    check(Operation.DELETE);
    real.delete(name);
  }

  @Override
  public void forceDirectory() throws IOException {
    check(Operation.FORCE_DIRECTORY);
    real.forceDirectory();
  }
}
