package dev.blackbox.ledger;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A directory whose machine can lose its power at any operation, under journal and H2 alike. Real
 * files are what the operating system shows; beside them is kept what would be found on the disk.
 *
 * <p>What it is strict about: nothing is durable that was not forced, a name only after its
 * directory was; units of 512 or 4096 bytes reach the disk in any order; a failed force loses some
 * of what it had to write for ever. What it takes for granted: a unit that was forced once is not
 * destroyed by a torn write to it.
 */
public final class CutDisk implements JournalFiles {

  /** What is done to the disk. */
  public enum Operation {
    CREATE,
    APPEND,
    FORCE,
    TRUNCATE,
    RENAME,
    DELETE,
    FORCE_DIRECTORY,
    DATABASE_WRITE,
    DATABASE_FORCE
  }

  /** Hears of each operation, after it if {@code done}; may take images. On any thread. */
  public interface Observer {
    void at(Operation operation, String name, boolean done);
  }

  private static final Map<Path, CutDisk> BY_DIRECTORY = new ConcurrentHashMap<>();

  static {
    CutDiskPath.register();
  }

  final ReentrantLock lock = new ReentrantLock();
  private final Path directory;
  private final JournalFiles real;
  private final Random random;
  private final Map<String, CutFile> current = new TreeMap<>();
  private final Map<String, CutFile> durable = new TreeMap<>();
  private final Set<CutFile> badlyForced = new LinkedHashSet<>();
  private volatile Observer observer = (_, _, _) -> {};

  /** Of 1000 operations so many fail, but never one of the database's reads. */
  private volatile int failuresOf1000;

  private final Set<Operation> lies = ConcurrentHashMap.newKeySet();
  private final List<String> broken = new ArrayList<>();

  private CutDisk(Path directory, long seed) {
    this.directory = directory;
    this.real = JournalFiles.in(directory);
    this.random = new Random(seed);
  }

  /** Everything that is there is on the disk. */
  public static CutDisk at(Path directory, long seed) throws IOException {
    Files.createDirectories(directory);
    Path path = directory.toRealPath();
    CutDisk disk = new CutDisk(path, seed);
    try (Stream<Path> files = Files.list(path)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (!name.equals(StateDirectory.LOCK_FILE)) {
          CutFile there = new CutFile(Files.readAllBytes(file), true);
          disk.current.put(name, there);
          disk.durable.put(name, there);
        }
      }
    }
    BY_DIRECTORY.put(path, disk);
    return disk;
  }

  public void observe(Observer next) {
    observer = next;
  }

  public void failing(int of1000) {
    failuresOf1000 = of1000;
  }

  /** From now on these do nothing and say that they did. */
  public void lie(Operation... operations) {
    lies.addAll(List.of(operations));
  }

  /** Rules of dealing with disks that were broken, in words. */
  public List<String> brokenRules() {
    return locked(() -> List.copyOf(broken));
  }

  /** What the next process finds if this one ends now. */
  public Map<String, byte[]> afterKill() {
    return locked(
        () -> {
          Map<String, byte[]> image = new TreeMap<>();
          current.forEach((name, file) -> image.put(name, file.visible()));
          return image;
        });
  }

  /** What the next boot of the machine finds if the power goes now; another for each seed. */
  public Map<String, byte[]> afterPowerCut(long seed) {
    Random dice = new Random(seed);
    return locked(
        () -> {
          Map<String, byte[]> image = new TreeMap<>();
          Set<String> names = new TreeSet<>(current.keySet());
          names.addAll(durable.keySet());
          for (String name : names) {
            CutFile now = current.get(name);
            CutFile then = durable.get(name);
            CutFile found = now == then || dice.nextBoolean() ? then : now;
            if (found != null) {
              image.put(name, found.afterCut(dice));
            }
          }
          return image;
        });
  }

  /** Makes a directory of what was found. */
  public static Path materialize(Map<String, byte[]> image, Path directory) throws IOException {
    Files.createDirectories(directory);
    for (Map.Entry<String, byte[]> file : image.entrySet()) {
      Files.write(directory.resolve(file.getKey()), file.getValue());
    }
    return directory;
  }

  public void forget() {
    BY_DIRECTORY.remove(directory);
  }

  static @Nullable CutDisk of(Path file) {
    Path parent = file.getParent();
    return parent == null ? null : BY_DIRECTORY.get(parent);
  }

  // ---- used by files ----

  interface Io {
    void run() throws IOException;
  }

  private interface Value<T> {
    T get();
  }

  private <T> T locked(Value<T> value) {
    lock.lock();
    try {
      return value.get();
    } finally {
      lock.unlock();
    }
  }

  /** One operation, between two calls of the observer. */
  void run(Operation operation, String name, Io body) throws IOException {
    observer.at(operation, name, false);
    lock.lock();
    try {
      body.run();
    } finally {
      lock.unlock();
    }
    observer.at(operation, name, true);
  }

  private boolean fails() {
    return failuresOf1000 > 0 && random.nextInt(1000) < failuresOf1000;
  }

  private static IOException planted(Operation operation) {
    return new IOException("planted: " + operation);
  }

  /** With the lock. A file that appeared beside us is known from now on. */
  CutFile file(String name) {
    return current.computeIfAbsent(
        name,
        _ -> {
          try {
            return new CutFile(Files.readAllBytes(directory.resolve(name)), false);
          } catch (IOException failure) {
            throw new UncheckedIOException(failure);
          }
        });
  }

  void force(CutFile file, Operation operation, String name, Io real) throws IOException {
    if (lies.contains(operation)) {
      return;
    }
    if (fails()) {
      file.failForce(random);
      badlyForced.add(file);
      throw planted(operation);
    }
    if (operation == Operation.FORCE && badlyForced.contains(file)) {
      broken.add(name + " was forced again after a force of it had failed");
    }
    real.run();
    file.force();
  }

  void mayFail(Operation operation) throws IOException {
    if (fails()) {
      throw planted(operation);
    }
  }

  // ---- the journal's side ----

  @Override
  public String databaseScheme() {
    return CutDiskPath.SCHEME;
  }

  @Override
  public List<String> list() throws IOException {
    return real.list();
  }

  @Override
  public Input open(String name) throws IOException {
    return real.open(name);
  }

  @Override
  public Output create(String name) throws IOException {
    List<Output> made = new ArrayList<>();
    run(
        Operation.CREATE,
        name,
        () -> {
          mayFail(Operation.CREATE);
          Output output = real.create(name);
          CutFile old = current.get(name);
          if (old != null) {
            old.cut(0);
          }
          current.putIfAbsent(name, new CutFile(new byte[0], false));
          made.add(new CutOutput(name, file(name), output));
        });
    return made.getFirst();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    run(
        Operation.RENAME,
        to,
        () -> {
          // A rename that fails may have happened all the same.
          boolean failed = fails();
          if (!failed || random.nextBoolean()) {
            CutFile moved = file(from);
            real.rename(from, to);
            current.remove(from);
            current.put(to, moved);
          }
          if (failed) {
            throw planted(Operation.RENAME);
          }
        });
  }

  @Override
  public void delete(String name) throws IOException {
    run(
        Operation.DELETE,
        name,
        () -> {
          real.delete(name);
          current.remove(name);
        });
  }

  @Override
  public void forceDirectory() throws IOException {
    run(
        Operation.FORCE_DIRECTORY,
        "",
        () -> {
          if (lies.contains(Operation.FORCE_DIRECTORY)) {
            return;
          }
          mayFail(Operation.FORCE_DIRECTORY);
          real.list().stream()
              .filter(name -> !name.equals(StateDirectory.LOCK_FILE))
              .forEach(this::file);
          durable.clear();
          durable.putAll(current);
        });
  }

  /** Files of the journal. */
  private final class CutOutput implements Output {
    private final String name;
    private final CutFile file;
    private final Output real;

    CutOutput(String name, CutFile file, Output real) {
      this.name = name;
      this.file = file;
      this.real = real;
    }

    @Override
    public void append(ByteBuffer bytes) throws IOException {
      run(
          Operation.APPEND,
          name,
          () -> {
            int length = fails() ? random.nextInt(bytes.remaining()) : bytes.remaining();
            byte[] written = new byte[length];
            bytes.slice(bytes.position(), length).get(written);
            real.append(ByteBuffer.wrap(written));
            file.write(file.visible().length, written);
            if (length < bytes.remaining()) {
              throw planted(Operation.APPEND);
            }
            bytes.position(bytes.limit());
          });
    }

    @Override
    public void force() throws IOException {
      // Tmpfs has nothing to force, and a real disk is not what is tested.
      run(Operation.FORCE, name, () -> CutDisk.this.force(file, Operation.FORCE, name, () -> {}));
    }

    @Override
    public void truncate(long size) throws IOException {
      run(
          Operation.TRUNCATE,
          name,
          () -> {
            mayFail(Operation.TRUNCATE);
            real.truncate(size);
            file.cut(size);
          });
    }

    @Override
    public void close() throws IOException {
      real.close();
    }
  }
}
