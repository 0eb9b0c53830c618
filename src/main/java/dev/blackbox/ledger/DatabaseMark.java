package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A line beside the database that says how it was left. H2 checks no page that it reads: after a
 * power cut, with flipped bits or cut short it often opens and answers wrongly. So its file is
 * trusted only if this line says that nothing happened which H2 would not notice.
 *
 * <p>The file has one line: {@code new} until a new ledger has its first segment, {@code open
 * <fact> POWER|PROCESS <machine boot id>} while a server has the database, {@code closed <fact>
 * <bytes> <CRC32C or ->} after an orderly end, {@code untrusted <fact> <reason>} after a failed
 * force. The fact is the newest one that was safe then: a journal that ends before it lost its end.
 */
final class DatabaseMark {

  private static final System.Logger LOG = System.getLogger(DatabaseMark.class.getName());

  static final String FILE_NAME = "ledger.mark";

  private static final String UNFINISHED = "ledger-mark.tmp";

  private static final int BYTES_MAX = 4096;

  /** A larger database is told by its length only: a start must not wait for reading all of it. */
  static final long SUMMED_BYTES_MAX = 64L << 20;

  private static final int READ_BYTES = 1 << 16;

  private final JournalFiles files;

  DatabaseMark(JournalFiles files) {
    this.files = files;
  }

  /** How it was left. */
  sealed interface Left {

    /** Nothing is said: a new ledger, or one that an older version left. */
    record Unsaid() implements Left {}

    /** It was being made for the first time: there is nothing yet that could be lost. */
    record New() implements Left {}

    record Open(long sequence, Sync sync, String machineBootId) implements Left {}

    /**
     * @param checksum of the whole file; empty if it was too large
     */
    record Closed(long sequence, long bytes, Optional<String> checksum) implements Left {}

    record Untrusted(long sequence, String reason) implements Left {}

    /** The newest fact that was safe when this was written. */
    default long safeSequence() {
      return switch (this) {
        case Unsaid _, New _ -> 0;
        case Open open -> open.sequence;
        case Closed closed -> closed.sequence;
        case Untrusted untrusted -> untrusted.sequence;
      };
    }
  }

  /** A line that makes no sense counts as distrust, which costs time but no fact. */
  Left read() throws IOException {
    if (!files.list().contains(FILE_NAME)) {
      return new Left.Unsaid();
    }
    try (JournalFiles.Input input = files.open(FILE_NAME)) {
      ByteBuffer bytes = ByteBuffer.allocate(BYTES_MAX);
      input.read(0, bytes);
      return parsed(StandardCharsets.UTF_8.decode(bytes.flip()).toString());
    }
  }

  private static Left parsed(String text) {
    String[] words = text.strip().split(" ", 4);
    if (words[0].equals("new")) {
      return new Left.New();
    }
    try {
      long sequence = Long.parseLong(words[1]);
      return switch (words[0]) {
        case "open" -> new Left.Open(sequence, Sync.valueOf(words[2]), words[3]);
        case "closed" ->
            new Left.Closed(
                sequence,
                Long.parseLong(words[2]),
                Optional.of(words[3]).filter(sum -> !sum.equals("-")));
        case "untrusted" -> new Left.Untrusted(sequence, text.strip().split(" ", 3)[2]);
        default -> new Left.Untrusted(0, FILE_NAME + " makes no sense");
      };
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException nonsense) {
      return new Left.Untrusted(0, FILE_NAME + " makes no sense");
    }
  }

  void write(Left left) throws IOException {
    String line =
        switch (left) {
          case Left.Unsaid _ -> throw new IllegalArgumentException("nothing to say");
          case Left.New _ -> "new";
          case Left.Open(long sequence, Sync sync, String machine) ->
              "open " + sequence + " " + sync + " " + machine;
          case Left.Closed(long sequence, long bytes, Optional<String> sum) ->
              "closed " + sequence + " " + bytes + " " + sum.orElse("-");
          case Left.Untrusted(long sequence, String reason) ->
              "untrusted " + sequence + " " + reason;
        };
    // A new file: one that is left may have met a failed force, and no later one makes that good.
    files.delete(UNFINISHED);
    try (JournalFiles.Output output = files.create(UNFINISHED)) {
      output.append(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
      output.force();
    }
    files.rename(UNFINISHED, FILE_NAME);
    files.forceDirectory();
  }

  /** How it is to be found. */
  interface Look {
    Left left() throws IOException;
  }

  /** For an end that nothing can stop any more: without it the next start has doubts. */
  void tryWrite(Look look) {
    try {
      write(look.left());
    } catch (IOException failure) {
      LOG.log(
          System.Logger.Level.WARNING,
          "how the database was left could not be written down: {0}",
          failure.getMessage());
    }
  }

  /** What is true of a database file that nobody has open. */
  static Left.Closed closed(Path database, long sequence) throws IOException {
    return new Left.Closed(sequence, Files.size(database), checksum(database));
  }

  /**
   * Why this database file cannot be trusted, in words that follow "because"; empty if it can.
   *
   * @param machineBootId of this boot of the machine
   */
  static Optional<String> distrust(Left left, Path database, String machineBootId)
      throws IOException {
    return switch (left) {
      case Left.Unsaid _ -> Optional.empty();
      case Left.New _ -> Optional.of("it was still being made when its server ended");
      case Left.Untrusted untrusted -> Optional.of(untrusted.reason);
      case Left.Open open when open.machineBootId.equals(machineBootId) -> Optional.empty();
      case Left.Open _ ->
          Optional.of("the machine went down while a server had it open, and H2 does not notice");
      case Left.Closed closed when !Files.isRegularFile(database) ->
          Optional.of("it is gone, and had " + closed.bytes + " bytes");
      case Left.Closed closed when closed.bytes != Files.size(database) ->
          Optional.of(
              "it has "
                  + Files.size(database)
                  + " bytes, but had "
                  + closed.bytes
                  + " when it was closed");
      case Left.Closed closed
          when closed.checksum.isPresent() && !closed.checksum.equals(checksum(database)) ->
          Optional.of("its content is not what it was when it was closed");
      case Left.Closed _ -> Optional.empty();
    };
  }

  /** Only while H2 does not have it open: closing a second channel would drop H2's lock. */
  private static Optional<String> checksum(Path database) throws IOException {
    if (Files.size(database) > SUMMED_BYTES_MAX) {
      return Optional.empty();
    }
    CRC32C crc = new CRC32C();
    ByteBuffer bytes = ByteBuffer.allocate(READ_BYTES);
    try (FileChannel channel = FileChannel.open(database, StandardOpenOption.READ)) {
      while (channel.read(bytes) >= 0) {
        crc.update(bytes.flip());
        bytes.clear();
      }
    }
    return Optional.of(HexFormat.of().toHexDigits((int) crc.getValue()));
  }
}
