package dev.blackbox.app;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A file system of a few megabytes, in a mount namespace of its own, which a process keeps.
 * Programs see it if they are started through {@link #entering}; it is gone with its keeper.
 */
final class SmallDisk implements AutoCloseable {

  private static final int CHUNK_BYTES = 4096;

  private final Path directory;
  private final Process keeper;

  private SmallDisk(Path directory, Process keeper) {
    this.directory = directory;
    this.keeper = keeper;
  }

  /**
   * Makes one, or ends the test with the reason why that cannot be.
   *
   * @param directory that exists, and under which programs see the disk
   */
  static SmallDisk make(Path directory, int megabytes) throws IOException {
    assumeThat(
            AgentPrograms.onPath("unshare").isPresent()
                && AgentPrograms.onPath("nsenter").isPresent())
        .as("unshare and nsenter (util-linux) are needed to make a small disk")
        .isTrue();
    Process keeper =
        new ProcessBuilder(
                "unshare",
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o size="
                    + megabytes
                    + "m none \"$0\" && echo made && exec sleep 3600",
                directory.toString())
            .redirectErrorStream(true)
            .start();
    BufferedReader output = keeper.inputReader();
    String line = output.readLine();
    if (!"made".equals(line)) {
      keeper.destroyForcibly();
      System.out.println("not run, because no small disk can be mounted here: " + line);
    }
    assumeThat(line).as("a small disk can be mounted here").isEqualTo("made");
    return new SmallDisk(directory, keeper);
  }

  /** The words that let a program see it; the program keeps the pid. */
  List<String> entering() {
    return List.of(
        "nsenter", "--target=" + keeper.pid(), "--user", "--mount", "--preserve-credentials");
  }

  /** The disk from outside. */
  Path seen() {
    return Path.of("/proc/" + keeper.pid() + "/root" + directory);
  }

  /** Leaves no byte. */
  void fill() {
    try (OutputStream filler = Files.newOutputStream(seen().resolve("filler"))) {
      for (long written = 0; written < 1L << 30; written += CHUNK_BYTES) {
        filler.write(new byte[CHUNK_BYTES]);
      }
      throw new IllegalStateException("the disk does not get full");
    } catch (IOException full) {
      if (!String.valueOf(full.getMessage()).contains("No space left")) {
        throw new UncheckedIOException(full);
      }
    }
  }

  /** Gives back what {@link #fill} took. */
  void free() throws IOException {
    Files.delete(seen().resolve("filler"));
  }

  /** While no file on it is open for writing. */
  void remount(String mode) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(entering());
    words.addAll(List.of("mount", "-o", "remount," + mode, directory.toString()));
    Process mount = new ProcessBuilder(words).inheritIO().start();
    if (mount.waitFor() != 0) {
      throw new IOException("mount -o remount," + mode + " failed");
    }
  }

  @Override
  public void close() {
    keeper.destroyForcibly();
  }
}
