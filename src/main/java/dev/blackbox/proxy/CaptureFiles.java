package dev.blackbox.proxy;

import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The files of kept bodies, one for each call and named by its id: gzip of a line of JSON, then the
 * request, a line feed, and the answer. A file gets its name when it is whole. For one thread.
 */
final class CaptureFiles {

  static final String FORMAT = "blackbox-call-bodies/1";
  static final String SUFFIX = ".call.gz";
  static final String DROPPED_FILE = "dropped";
  private static final String PART_SUFFIX = ".part";

  /** What a file takes at least on common file systems. */
  private static final long BLOCK_BYTES = 4096;

  private static final FileAttribute<?> OWNER_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<?> OWNER_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /**
   * What is to be kept of a call.
   *
   * @param request its first bytes
   * @param requestBytes how long the request was
   * @param answer its first {@code answerLength} bytes count
   * @param answerBytes how long the answer was
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on; never compared
  record Bodies(
      CallSink.CallEnded call,
      byte[] request,
      long requestBytes,
      byte[] answer,
      int answerLength,
      long answerBytes) {}

  private record Kept(Path file, long bytes) {}

  private final Path directory;
  private final long bytesMax;

  /** The oldest first. */
  private final Deque<Kept> kept = new ArrayDeque<>();

  private long bytes;

  private CaptureFiles(Path directory, long bytesMax) {
    this.directory = directory;
    this.bytesMax = bytesMax;
  }

  /** Makes the directory, and deletes what the last boot did not write to its end. */
  static CaptureFiles open(Path directory, long bytesMax) throws IOException {
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory.toAbsolutePath().getParent());
      Files.createDirectory(directory, OWNER_DIRECTORY);
    }
    CaptureFiles files = new CaptureFiles(directory, bytesMax);
    for (Path file : named(directory, PART_SUFFIX)) {
      Files.deleteIfExists(file);
    }
    for (Path file : named(directory, SUFFIX)) {
      files.add(file);
    }
    files.makeRoom(0);
    return files;
  }

  /** The oldest first. */
  static List<Path> named(Path directory, String suffix) throws IOException {
    record Aged(Path file, long millis) {}
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(file -> file.getFileName().toString().endsWith(suffix))
          .map(file -> new Aged(file, file.toFile().lastModified()))
          .sorted(Comparator.comparingLong(Aged::millis).thenComparing(Aged::file))
          .map(Aged::file)
          .toList();
    }
  }

  void write(Bodies bodies, List<byte[]> secrets) throws IOException {
    Path part = directory.resolve(bodies.call().callId() + PART_SUFFIX);
    try {
      byte[] request = Redaction.without(bodies.request(), secrets);
      byte[] answer =
          Redaction.without(Arrays.copyOf(bodies.answer(), bodies.answerLength()), secrets);
      try (OutputStream out = new GZIPOutputStream(created(part))) {
        out.write(Json.writeBytes(head(bodies, request, answer)));
        out.write('\n');
        out.write(request);
        out.write('\n');
        out.write(answer);
      }
      if (!makeRoom(blocks(Files.size(part)))) {
        throw new IOException("longer than all files may be together");
      }
      Path file = directory.resolve(bodies.call().callId() + SUFFIX);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      add(file);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private static Map<String, @Nullable Object> head(Bodies bodies, byte[] request, byte[] answer) {
    CallSink.CallEnded call = bodies.call();
    Map<String, @Nullable Object> head = new LinkedHashMap<>();
    head.put("format", FORMAT);
    head.put("call_id", call.callId());
    head.put("turn_id", call.turn().turnId().value());
    head.put("verdict", call.verdict());
    head.put("status", call.status());
    head.put("ended_at", call.at().toString());
    head.put("request_hash", call.requestHash().orElse(null));
    head.put("response_hash", call.responseHash().orElse(null));
    head.put("request_bytes", request.length);
    head.put("response_bytes", answer.length);
    head.put("request_bytes_sent", bodies.requestBytes());
    head.put("response_bytes_received", bodies.answerBytes());
    return head;
  }

  private static OutputStream created(Path file) throws IOException {
    return Channels.newOutputStream(
        Files.newByteChannel(
            file,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE),
            OWNER_FILE));
  }

  /** Adds to the number of calls whose bodies were not kept. */
  void addDropped(long more) {
    Path part = directory.resolve(DROPPED_FILE + PART_SUFFIX);
    try {
      long before = dropped(directory);
      try (OutputStream out = created(part)) {
        out.write(String.valueOf(before + more).getBytes(StandardCharsets.US_ASCII));
      }
      Files.move(part, directory.resolve(DROPPED_FILE), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failed) {
      System.getLogger(CaptureFiles.class.getName())
          .log(System.Logger.Level.DEBUG, "the number of dropped bodies is not written", failed);
    }
  }

  /** The number of calls whose bodies were not kept, in all boots. */
  static long dropped(Path directory) throws IOException {
    Path file = directory.resolve(DROPPED_FILE);
    return Files.exists(file) ? Long.parseLong(Files.readString(file).strip()) : 0;
  }

  private void add(Path file) throws IOException {
    long size = blocks(Files.size(file));
    kept.addLast(new Kept(file, size));
    bytes += size;
  }

  /** Deletes the oldest until so much more fits. False if it never does. */
  private boolean makeRoom(long more) throws IOException {
    if (more > bytesMax) {
      return false;
    }
    while (bytes + more > bytesMax && !kept.isEmpty()) {
      Kept oldest = kept.removeFirst();
      bytes -= oldest.bytes();
      Files.deleteIfExists(oldest.file());
    }
    return true;
  }

  private static long blocks(long size) {
    return (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
  }
}
