package dev.blackbox.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What the kernel says about a process; Linux, see proc(5). */
public final class ProcessFigures {

  /** USER_HZ, which is 100 on every Linux that Java runs on. */
  private static final double TICKS_PER_SECOND = 100;

  private final Path directory;

  public ProcessFigures(long pid) {
    directory = Path.of("/proc", Long.toString(pid));
  }

  /** User and system time of the process itself, without its children, in seconds. */
  public double cpuSeconds() throws IOException {
    String stat = Files.readString(directory.resolve("stat"));
    // The name in field 2 may hold anything but ends with the last parenthesis; field 3 follows.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
  }

  /** Resident memory in megabytes. */
  public double residentMegabytes() throws IOException {
    List<String> status = Files.readAllLines(directory.resolve("status"));
    return status.stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1024)
        .findFirst()
        .orElseThrow();
  }

  /** Open file handles: files, sockets, pipes. */
  public long openHandles() throws IOException {
    try (Stream<Path> handles = Files.list(directory.resolve("fd"))) {
      return handles.count();
    }
  }
}
