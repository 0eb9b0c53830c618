package dev.blackbox.process;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/** What Linux tells about processes. Source of the formats: proc(5). */
final class ProcFs {

  private static final Path PROC = Path.of("/proc");

  /** The line of {@code /proc/stat} that counts them. */
  private static final String FORKS = "\nprocesses ";

  private static final int FIRST_BYTES = 2048;

  private ProcFs() {}

  /**
   * The fields of {@code /proc/<pid>/stat} that matter here.
   *
   * @param state one letter, see proc(5)
   */
  record Stat(long pid, char state, long parent, long group, long session, long startTicks) {

    /**
     * A zombie does nothing any more. It may stay for ever: some init programs never collect the
     * orphans they inherit.
     */
    boolean isDead() {
      return state == 'Z' || state == 'X' || state == 'x';
    }
  }

  static String machineBootId() {
    return BootId.VALUE;
  }

  /** The process that has this pid, dead or alive; empty if there is none. */
  static Optional<Stat> stat(long pid) {
    try {
      return Optional.of(parse(pid, text(read(pid + "/stat"))));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /**
   * A moment, as the kernel counts processes.
   *
   * @param forks how many processes the machine has started so far, in all containers together
   * @param newestPid the pid that was given out last
   */
  record Moment(long forks, long newestPid) {

    static Moment now() {
      return new Moment(ProcFs.countForks(), ProcFs.readNewestPid());
    }
  }

  /** All processes that are not dead. One that ends meanwhile may be missing. */
  static List<Stat> running() {
    return running(_ -> true);
  }

  /** Children of a process that have ended and whose exit status nobody has taken. */
  static List<Stat> zombiesOf(long parent) {
    return all(_ -> true).stream()
        .filter(stat -> stat.parent() == parent && stat.state() == 'Z')
        .toList();
  }

  /**
   * The processes that were started after a moment and are not dead. Pids are given out in rising
   * order, and start again at the bottom: so as long as fewer processes were started since than
   * there are pids, only those from the newest then to the newest now can be later ones, and no
   * other has to be looked at. That makes the look after a short process cheap.
   */
  static List<Stat> runningSince(Moment moment) {
    Moment now = Moment.now();
    if (now.forks() - moment.forks() >= PidMax.VALUE / 2) {
      return running();
    }
    boolean aroundTheTop = now.newestPid() < moment.newestPid();
    return running(
        pid ->
            aroundTheTop
                ? pid > moment.newestPid() || pid <= now.newestPid()
                : pid > moment.newestPid() && pid <= now.newestPid());
  }

  private static List<Stat> running(LongPredicate looked) {
    return all(looked).stream().filter(stat -> !stat.isDead()).toList();
  }

  private static List<Stat> all(LongPredicate looked) {
    List<Stat> all = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path entry : entries) {
        long pid = Long.parseLong(entry.getFileName().toString());
        if (looked.test(pid)) {
          stat(pid).ifPresent(all::add);
        }
      }
    } catch (DirectoryIteratorException | IOException unreadable) {
      throw new IllegalStateException("/proc cannot be listed", unreadable);
    }
    return all;
  }

  /**
   * True if the process was started with this variable. False too if that must not be read: then it
   * is another user's, and no child of ours.
   */
  static boolean hasVariable(long pid, String name, String value) {
    byte[] wanted = (name + "=" + value + "\0").getBytes(StandardCharsets.UTF_8);
    try {
      return containsEntry(read(pid + "/environ"), wanted);
    } catch (IOException goneOrForeign) {
      return false;
    }
  }

  private static boolean containsEntry(byte[] environ, byte[] entry) {
    int start = 0;
    while (start + entry.length <= environ.length) {
      int at = 0;
      while (at < entry.length && environ[start + at] == entry[at]) {
        at++;
      }
      if (at == entry.length) {
        return true;
      }
      while (start < environ.length && environ[start] != 0) {
        start++;
      }
      start++;
    }
    return false;
  }

  private static long countForks() {
    try {
      String stat = text(read("stat"));
      int line = stat.indexOf(FORKS);
      return line < 0
          ? Long.MAX_VALUE
          : Long.parseLong(
              stat.substring(line + FORKS.length(), stat.indexOf('\n', line + FORKS.length())));
    } catch (IOException unreadable) {
      throw new UncheckedIOException("the machine's count of processes cannot be read", unreadable);
    }
  }

  private static long readNewestPid() {
    try {
      String load = text(read("loadavg")).strip();
      return Long.parseLong(load.substring(load.lastIndexOf(' ') + 1));
    } catch (IOException unreadable) {
      throw new UncheckedIOException("the machine's newest pid cannot be read", unreadable);
    }
  }

  /**
   * A file of proc, whose size nobody knows before it is read. A plain stream needs a third of what
   * {@link Files#readAllBytes} does for it, and a look at many processes is many files.
   */
  private static byte[] read(String name) throws IOException {
    try (FileInputStream in = new FileInputStream("/proc/" + name)) {
      byte[] bytes = new byte[FIRST_BYTES];
      int count = 0;
      for (int got = in.read(bytes); got > 0; got = in.read(bytes, count, bytes.length - count)) {
        count += got;
        if (count == bytes.length) {
          bytes = Arrays.copyOf(bytes, 2 * count);
        }
      }
      return Arrays.copyOf(bytes, count);
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /** The second field is the program's name in parentheses, and may itself hold any character. */
  private static Stat parse(long pid, String line) {
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
    return new Stat(
        pid,
        fields[0].charAt(0),
        Long.parseLong(fields[1]),
        Long.parseLong(fields[2]),
        Long.parseLong(fields[3]),
        Long.parseLong(fields[19]));
  }

  private static final class PidMax {
    static final long VALUE = read();

    private static long read() {
      try {
        return Long.parseLong(Files.readString(PROC.resolve("sys/kernel/pid_max")).strip());
      } catch (IOException unreadable) {
        throw new UncheckedIOException("this machine's highest pid cannot be read", unreadable);
      }
    }
  }

  private static final class BootId {
    static final String VALUE = read();

    private static String read() {
      try {
        return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
      } catch (IOException unreadable) {
        throw new UncheckedIOException("this machine's boot id cannot be read", unreadable);
      }
    }
  }
}
