package dev.blackbox.ledger;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The start of a segment file, all numbers big-endian: 8 bytes {@code BBSJRNL\n}, int format of the
 * journal, int version of the schema, long number of the first fact, 32 bytes hash before it, int
 * CRC32C of all this. It is outside of the database, and so it tells a database that is older than
 * its journal, cut, or another one. This layout is the same in all formats, so that every version
 * can tell that a journal is newer than itself.
 */
record SegmentHeader(int format, int schema, Chain before) {

  /** The format that this version writes, and the newest that it reads. */
  static final int FORMAT = 1;

  private static final byte[] MAGIC = "BBSJRNL\n".getBytes(StandardCharsets.US_ASCII);

  static final int BYTES =
      MAGIC.length + 2 * Integer.BYTES + Long.BYTES + Chain.HASH_BYTES + Integer.BYTES;

  /** Behind the name of a segment that is not written any more, and compressed. */
  private static final String COMPRESSED = ".gz";

  private static final Pattern NAME = Pattern.compile("journal-([0-9]{16})\\.log(\\.gz)?");

  static SegmentHeader after(Chain before) {
    return new SegmentHeader(FORMAT, Schema.VERSION, before);
  }

  long firstSequence() {
    return before.sequence() + 1;
  }

  String fileName() {
    return String.format("journal-%016d.log", firstSequence());
  }

  /** The name of the same segment in its other form: compressed, or not. */
  static String otherName(String fileName) {
    return isCompressed(fileName)
        ? fileName.substring(0, fileName.length() - COMPRESSED.length())
        : fileName + COMPRESSED;
  }

  static boolean isCompressed(String fileName) {
    return fileName.endsWith(COMPRESSED);
  }

  static boolean isSegment(String fileName) {
    return NAME.matcher(fileName).matches();
  }

  static long firstSequence(String fileName) {
    Matcher matcher = NAME.matcher(fileName);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a segment: " + fileName);
    }
    return Long.parseLong(matcher.group(1));
  }

  ByteBuffer toBytes() {
    ByteBuffer header = ByteBuffer.allocate(BYTES);
    header.put(MAGIC).putInt(format).putInt(schema).putLong(firstSequence());
    header.put(before.hashBytes());
    header.putInt(JournalRecord.checksum(header.slice(0, header.position())));
    return header.flip();
  }

  /** Empty if this is not a whole header. */
  static Optional<SegmentHeader> of(ByteBuffer bytes) {
    byte[] magic = new byte[MAGIC.length];
    if (bytes.remaining() < BYTES
        || !java.util.Arrays.equals(magicOf(bytes, magic), MAGIC)
        || JournalRecord.checksum(bytes.slice(0, BYTES - Integer.BYTES))
            != bytes.getInt(BYTES - Integer.BYTES)) {
      return Optional.empty();
    }
    ByteBuffer fields = bytes.slice(MAGIC.length, BYTES - MAGIC.length);
    int format = fields.getInt();
    int schema = fields.getInt();
    long first = fields.getLong();
    byte[] hash = new byte[Chain.HASH_BYTES];
    fields.get(hash);
    return Optional.of(new SegmentHeader(format, schema, Chain.at(first - 1, hash)));
  }

  private static byte[] magicOf(ByteBuffer bytes, byte[] into) {
    bytes.get(0, into);
    return into;
  }
}
