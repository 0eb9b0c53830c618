package dev.blackbox.ledger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.Objects;
import org.h2.store.fs.FileBaseDefault;
import org.h2.store.fs.FilePath;
import org.h2.store.fs.FilePathWrapper;

/** H2's files on a {@link CutDisk}: {@code jdbc:h2:cut:/directory/name}. */
public final class CutDiskPath extends FilePathWrapper {

  static final String SCHEME = "cut";

  static void register() {
    FilePath.register(new CutDiskPath());
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public FileChannel open(String mode) throws IOException {
    FileChannel real = super.open(mode);
    Path path = Path.of(unwrap().toString());
    CutDisk disk = CutDisk.of(path);
    if (disk == null || mode.equals("r")) {
      return real;
    }
    return new Channel(disk, Objects.requireNonNull(path.getFileName()).toString(), real);
  }

  /** Writes to the real file, and tells the disk. */
  private static final class Channel extends FileBaseDefault {
    private final CutDisk disk;
    private final String name;
    private final CutFile file;
    private final FileChannel real;

    Channel(CutDisk disk, String name, FileChannel real) {
      this.disk = disk;
      this.name = name;
      this.real = real;
      disk.lock.lock();
      try {
        this.file = disk.file(name);
      } finally {
        disk.lock.unlock();
      }
    }

    @Override
    public long size() throws IOException {
      return real.size();
    }

    @Override
    public synchronized int read(ByteBuffer into, long position) throws IOException {
      return real.read(into, position);
    }

    @Override
    public synchronized int write(ByteBuffer from, long position) throws IOException {
      int length = from.remaining();
      disk.run(
          CutDisk.Operation.DATABASE_WRITE,
          name,
          () -> {
            disk.mayFail(CutDisk.Operation.DATABASE_WRITE);
            byte[] bytes = new byte[length];
            from.get(bytes);
            real.write(ByteBuffer.wrap(bytes), position);
            file.write(position, bytes);
          });
      return length;
    }

    @Override
    protected void implTruncate(long size) throws IOException {
      disk.run(
          CutDisk.Operation.DATABASE_WRITE,
          name,
          () -> {
            real.truncate(size);
            file.cut(size);
          });
    }

    @Override
    public void force(boolean metaData) throws IOException {
      disk.run(
          CutDisk.Operation.DATABASE_FORCE,
          name,
          () -> disk.force(file, CutDisk.Operation.DATABASE_FORCE, name, () -> {}));
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
      return real.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
      real.close();
    }
  }
}
