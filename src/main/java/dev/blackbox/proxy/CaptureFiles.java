package dev.blackbox.proxy;

import dev.blackbox.wire.Json;
import java.io.ByteArrayOutputStream;
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
import java.time.Instant;
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
  static final long BLOCK_BYTES = 4096;

  /** Of each of the two lists of what is gone: some ten thousand lines, less on small disks. */
  private static final long LIST_BYTES_MAX = 1 << 20;

  private static final int LIST_SHARE = 64;

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
  private final CaptureConfig config;
  private final long bytesMax;
  private final GoneCalls gone;

  /** The oldest first. */
  private final Deque<Kept> kept = new ArrayDeque<>();

  private long bytes;

  private CaptureFiles(CaptureConfig config) {
    this.directory = config.directory();
    this.config = config;
    long list = blocks(Math.min(LIST_BYTES_MAX, config.diskBytesMax() / LIST_SHARE));
    this.gone = new GoneCalls(directory, list);
    // The rest is for the lists and for the number of those that were dropped.
    this.bytesMax = config.diskBytesMax() - 2 * list - BLOCK_BYTES;
  }

  /** Makes the directory, and deletes what the last boot did not write to its end. */
  static CaptureFiles open(CaptureConfig config, Instant now) throws IOException {
    Path directory = config.directory();
    makeDirectory(directory);
    CaptureFiles files = new CaptureFiles(config);
    for (Path file : named(directory, PART_SUFFIX)) {
      Files.deleteIfExists(file);
    }
    for (Path file : named(directory, SUFFIX)) {
      files.add(file);
    }
    files.makeRoom(0, now);
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

  /** For its owner only. */
  static void makeDirectory(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory.toAbsolutePath().getParent());
      Files.createDirectory(directory, OWNER_DIRECTORY);
    }
  }

  GoneCalls gone() {
    return gone;
  }

  void write(Bodies bodies, SecretTrie secrets) throws IOException {
    // Somebody may have deleted it.
    makeDirectory(directory);
    byte[] content = content(bodies, secrets);
    // Before it is written, so that no more than all may have is ever there.
    makeRoom(blocks(content.length), bodies.call().at());
    Path part = directory.resolve(bodies.call().callId() + PART_SUFFIX);
    try {
      try (OutputStream out = created(part)) {
        out.write(content);
      }
      Path file = directory.resolve(bodies.call().callId() + SUFFIX);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      add(file);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private static byte[] content(Bodies bodies, SecretTrie secrets) throws IOException {
    Redaction.Redacted request = Redaction.of(bodies.request(), secrets);
    Redaction.Redacted answer =
        Redaction.of(Arrays.copyOf(bodies.answer(), bodies.answerLength()), secrets);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(content)) {
      out.write(Json.writeBytes(head(bodies, request, answer)));
      out.write('\n');
      out.write(request.bytes());
      out.write('\n');
      out.write(answer.bytes());
    }
    return content.toByteArray();
  }

  private static Map<String, @Nullable Object> head(
      Bodies bodies, Redaction.Redacted request, Redaction.Redacted answer) {
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
    head.put("request_bytes", request.bytes().length);
    head.put("response_bytes", answer.bytes().length);
    head.put("request_bytes_sent", bodies.requestBytes());
    head.put("response_bytes_received", bodies.answerBytes());
    head.put("request_redactions", request.pieces());
    head.put("response_redactions", answer.pieces());
    return head;
  }

  static OutputStream created(Path file) throws IOException {
    return Channels.newOutputStream(
        Files.newByteChannel(
            file,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE),
            OWNER_FILE));
  }

  /** Adds to the number of calls whose bodies were not kept. False if that cannot be written. */
  boolean addDropped(long more) {
    Path part = directory.resolve(DROPPED_FILE + PART_SUFFIX);
    try {
      long before = dropped(directory);
      try (OutputStream out = created(part)) {
        out.write(String.valueOf(before + more).getBytes(StandardCharsets.US_ASCII));
      }
      Files.move(part, directory.resolve(DROPPED_FILE), StandardCopyOption.ATOMIC_MOVE);
      return true;
    } catch (IOException failed) {
      System.getLogger(CaptureFiles.class.getName())
          .log(System.Logger.Level.DEBUG, "the number of dropped bodies is not written", failed);
      return false;
    }
  }

  /** The number of calls whose bodies were not kept, in all boots. */
  static long dropped(Path directory) throws IOException {
    Path file = directory.resolve(DROPPED_FILE);
    String count = Files.exists(file) ? Files.readString(file).strip() : "";
    // A power cut may leave it empty, or anything in it.
    return count.matches("[0-9]{1,18}") ? Long.parseLong(count) : 0;
  }

  private void add(Path file) throws IOException {
    long size = blocks(Files.size(file));
    kept.addLast(new Kept(file, size));
    bytes += size;
  }

  /** Deletes the oldest until so much more fits, among the files and on the disk. */
  private void makeRoom(long more, Instant now) throws IOException {
    if (more > bytesMax) {
      throw new IOException("longer than all files may be together");
    }
    while (bytes + more > bytesMax && !kept.isEmpty()) {
      deleteOldest(now);
    }
    long wanted = more == 0 ? 0 : config.diskFreeBytesMin() + more;
    while (diskFree() < wanted) {
      if (kept.isEmpty()) {
        throw new IOException("the disk has less than " + wanted + " bytes left");
      }
      deleteOldest(now);
    }
  }

  private void deleteOldest(Instant now) throws IOException {
    Kept oldest = kept.removeFirst();
    bytes -= oldest.bytes();
    if (Files.exists(oldest.file())) {
      // Listed first: a file that is there is believed before the list.
      String name = oldest.file().getFileName().toString();
      gone.deleted(name.substring(0, name.length() - SUFFIX.length()), now);
      Files.deleteIfExists(oldest.file());
    }
  }

  /** Not by Files.getFileStore, which needs the mount in the table of mounts. */
  private long diskFree() {
    return directory.toFile().getUsableSpace();
  }

  private static long blocks(long size) {
    return (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
  }
}
