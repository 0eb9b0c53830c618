package dev.blackbox.ledger;

import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The directory of a ledger, locked for this process until it is closed. */
final class StateDirectory implements Resource {

  static final String LOCK_FILE = "ledger.lock";

  /** H2 adds the ending. */
  static final String DATABASE = "ledger";

  static final String DATABASE_FILE = DATABASE + ".mv.db";

  /** A database that is being made again from the journal. */
  static final String REBUILD = DATABASE + "-rebuild";

  static final String REBUILD_FILE = REBUILD + ".mv.db";

  /** The newest database that was replaced by one made again, for whoever wants to know why. */
  static final String DAMAGED_FILE = DATABASE + "-damaged.mv.db";

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /**
   * Directories that this process holds. POSIX drops all locks of a process on a file when any of
   * its channels on that file is closed, so a second open must not even touch the lock file.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel lockChannel;

  private StateDirectory(Path path, FileChannel lockChannel) {
    this.path = path;
    this.lockChannel = lockChannel;
  }

  /** Makes the directory if needed, and takes its lock. */
  static StateDirectory take(Path wanted) throws LedgerRefusedException {
    Path path = made(wanted.toAbsolutePath().normalize());
    if (!HELD.add(path)) {
      throw locked(path, ProcessHandle.current().pid() + " (this process)");
    }
    try {
      FileChannel channel = locked(path);
      return new StateDirectory(path, channel);
    } catch (LedgerRefusedException refused) {
      HELD.remove(path);
      throw refused;
    }
  }

  private static Path made(Path path) throws LedgerRefusedException {
    try {
      if (!Files.isDirectory(path)) {
        if (path.getParent() != null) {
          Files.createDirectories(path.getParent());
        }
        Files.createDirectory(path, OWNER_ONLY);
      }
      Path real = path.toRealPath();
      if (!Files.isWritable(real)) {
        throw notWritable(path, "no permission to write there", null);
      }
      return real;
    } catch (FileAlreadyExistsException _) {
      throw notWritable(path, "it, or a part of its path, is not a directory", null);
    } catch (IOException failure) {
      throw notWritable(path, reason(failure), failure);
    }
  }

  private static FileChannel locked(Path path) throws LedgerRefusedException {
    Path file = path.resolve(LOCK_FILE);
    try {
      // Not through a link: what it leads to would be emptied.
      FileChannel channel =
          FileChannel.open(
              file,
              Set.of(
                  StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
              OWNER_FILE);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        channel.close();
        throw locked(path, holder(file));
      }
      channel.truncate(0);
      String holder = "pid " + ProcessHandle.current().pid() + "\n";
      channel.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.US_ASCII)), 0);
      return channel;
    } catch (IOException failure) {
      throw notWritable(path, reason(failure), failure);
    }
  }

  Path path() {
    return path;
  }

  Path databaseFile() {
    return path.resolve(DATABASE_FILE);
  }

  /** H2 makes files that others may read; it keeps the mode of one that is there. */
  void makeFile(String name) throws IOException {
    Path file = path.resolve(name);
    if (!Files.exists(file)) {
      Files.createFile(file, OWNER_FILE);
    }
  }

  /** False also for an empty one. */
  boolean hasDatabase() throws IOException {
    return Files.exists(databaseFile()) && Files.size(databaseFile()) > 0;
  }

  /** Whether something else stands in its place, or a link that leads nowhere. */
  boolean hasNoFileAsDatabase() {
    return Files.exists(databaseFile(), LinkOption.NOFOLLOW_LINKS)
        && !Files.isRegularFile(databaseFile());
  }

  /** Sizes only: a second channel on H2's file would drop H2's lock. */
  long bytesOnDisk() throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.list(path)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".mv.db") || SegmentHeader.isSegment(name)) {
          bytes += file.toFile().length(); // 0 if it was deleted meanwhile
        }
      }
    }
    return bytes;
  }

  @Override
  public void close() {
    if (!lockChannel.isOpen()) {
      return;
    }
    try {
      lockChannel.close();
    } catch (IOException failure) {
      System.getLogger(StateDirectory.class.getName())
          .log(System.Logger.Level.WARNING, "releasing the lock of {0}: {1}", path, failure);
    } finally {
      HELD.remove(path);
    }
  }

  private static String holder(Path lockFile) throws IOException {
    String text = Files.readString(lockFile, StandardCharsets.US_ASCII).strip();
    return text.startsWith("pid ") ? text.substring("pid ".length()) : "unknown";
  }

  static LedgerRefusedException locked(Path path, String pid) {
    return new LedgerRefusedException(
        Reason.LOCKED,
        "the ledger in "
            + path
            + " is in use by pid "
            + pid
            + ". End that process, or choose another state directory.",
        null);
  }

  static LedgerRefusedException notWritable(
      Path path, String why, @org.jspecify.annotations.Nullable Throwable cause) {
    return new LedgerRefusedException(
        Reason.NOT_WRITABLE,
        "the ledger cannot be written in "
            + path
            + ": "
            + why
            + ". Free space on its disk, give this user a writable directory, or choose another"
            + " state directory.",
        cause);
  }

  static String reason(IOException failure) {
    String message = failure.getMessage();
    return failure.getClass().getSimpleName() + (message == null ? "" : " (" + message + ")");
  }
}
