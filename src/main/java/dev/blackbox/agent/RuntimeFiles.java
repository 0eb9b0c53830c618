package dev.blackbox.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files of a runtime directory: for our own user only, and written whole or not at all. */
public final class RuntimeFiles {

  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private RuntimeFiles() {}

  /** Makes the directory and those above it, unless they exist. Mode 0700. */
  public static Path directory(Path directory) throws IOException {
    return Files.createDirectories(directory, PRIVATE_DIRECTORY);
  }

  /** Writes UTF-8, in place of what was there. Mode 0600. */
  public static void write(Path file, String content) throws IOException {
    Path part = Files.createTempFile(file.toAbsolutePath().getParent(), ".part-", "", PRIVATE_FILE);
    Files.writeString(part, content);
    Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Size in bytes; 0 if there is no such file. */
  public static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException absent) {
      return 0;
    }
  }

  /**
   * The last lines of a log, without those from before {@code from}.
   *
   * @param from offset in bytes at which the interesting part begins
   */
  public static String tail(Path file, long from, int bytesMax) {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      long size = channel.size();
      long start = Math.max(Math.min(from, size), size - bytesMax);
      ByteBuffer bytes = ByteBuffer.allocate((int) (size - start));
      channel.position(start);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // until it is full, or the file ends early
      }
      return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).strip();
    } catch (IOException unreadable) {
      return "";
    }
  }

  /**
   * Puts a log aside that has grown beyond its bound, as {@code <name>.1}, older ones as {@code .2}
   * and so on. Not for logs that a process appends to.
   *
   * @param kept how many are kept; the oldest is dropped
   */
  public static void rotateIfLargerThan(Path log, long bytesMax, int kept) throws IOException {
    if (size(log) <= bytesMax) {
      return;
    }
    for (int number = kept; number > 0; number--) {
      Path from = number == 1 ? log : numbered(log, number - 1);
      if (Files.exists(from)) {
        Files.move(from, numbered(log, number), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private static Path numbered(Path log, int number) {
    return log.resolveSibling(log.getFileName() + "." + number);
  }

  /** Empties a log that has grown beyond its bound. Safe while a process appends to it. */
  public static void emptyIfLargerThan(Path log, long bytesMax) throws IOException {
    if (size(log) > bytesMax) {
      Files.newByteChannel(log, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
          .close();
    }
  }
}
