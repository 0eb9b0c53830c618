package dev.blackbox.ledger;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Everything that the journal does to files, so that failing disks can be put in its place. Names
 * are file names in the one directory. Used by one thread at a time.
 */
interface JournalFiles {

  /** The names that are there, in any order. */
  List<String> list() throws IOException;

  /** Makes an empty file, in the place of an old one if there is one, and opens it for writing. */
  Output create(String name) throws IOException;

  Input open(String name) throws IOException;

  /** Gives a file another name, in one step, in the place of an old file of that name. */
  void rename(String from, String to) throws IOException;

  /** No failure if it is not there. */
  void delete(String name) throws IOException;

  /** Makes creations, renames and deletions durable. */
  void forceDirectory() throws IOException;

  /** The part of H2's file system under which the database lies. */
  default String databaseScheme() {
    return "file";
  }

  /** A file that only grows at its end. */
  interface Output extends Closeable {
    /** Writes all that remains in {@code bytes}. */
    void append(ByteBuffer bytes) throws IOException;

    void force() throws IOException;

    void truncate(long size) throws IOException;
  }

  /** A file to read. */
  interface Input extends Closeable {
    long size() throws IOException;

    /** Fills what remains in {@code into}, or less at the end of the file. */
    void read(long position, ByteBuffer into) throws IOException;
  }

  /** Files of the operating system in {@code directory}, for their owner only. */
  static JournalFiles in(Path directory) {
    return new OnDisk(directory);
  }

  /** The real ones. */
  record OnDisk(Path directory) implements JournalFiles {

    @Override
    public List<String> list() throws IOException {
      try (Stream<Path> files = Files.list(directory)) {
        return files.map(file -> file.getFileName().toString()).toList();
      }
    }

    @Override
    public Output create(String name) throws IOException {
      FileChannel channel =
          FileChannel.open(
              directory.resolve(name),
              Set.of(
                  StandardOpenOption.CREATE,
                  StandardOpenOption.TRUNCATE_EXISTING,
                  StandardOpenOption.WRITE,
                  LinkOption.NOFOLLOW_LINKS),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      return new ChannelOutput(channel);
    }

    @Override
    public Input open(String name) throws IOException {
      return new ChannelInput(FileChannel.open(directory.resolve(name), StandardOpenOption.READ));
    }

    @Override
    public void rename(String from, String to) throws IOException {
      Files.move(directory.resolve(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void delete(String name) throws IOException {
      Files.deleteIfExists(directory.resolve(name));
    }

    @Override
    public void forceDirectory() throws IOException {
      // A directory can be opened for reading and forced on Linux; that is fsync(2) on it.
      try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  /** Writes at the channel's end. */
  record ChannelOutput(FileChannel channel) implements Output {

    @Override
    public void append(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    @Override
    public void force() throws IOException {
      // Data and size are enough to read it back; times are not needed.
      channel.force(false);
    }

    @Override
    public void truncate(long size) throws IOException {
      channel.truncate(size);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** Reads at any position. */
  record ChannelInput(FileChannel channel) implements Input {

    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public void read(long position, ByteBuffer into) throws IOException {
      long at = position;
      while (into.hasRemaining()) {
        int count = channel.read(into, at);
        if (count < 0) {
          return;
        }
        at += count;
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
