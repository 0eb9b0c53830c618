package dev.blackbox.ledger;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * A compressed segment, as if it were not. To be read forwards: memory stays flat whatever its
 * size.
 */
final class InflatedInput implements JournalFiles.Input {

  private static final int BUFFER_BYTES = 1 << 16;

  private final JournalFiles.Input compressed;
  private @Nullable InputStream inflated;
  private long position;

  InflatedInput(JournalFiles.Input compressed) {
    this.compressed = compressed;
  }

  /** As the end of the file says: RFC 1952, ISIZE, which is the size modulo 2^32. */
  @Override
  public long size() throws IOException {
    ByteBuffer size = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    compressed.read(Math.max(0, compressed.size() - Integer.BYTES), size);
    return size.flip().remaining() < Integer.BYTES ? 0 : Integer.toUnsignedLong(size.getInt());
  }

  /**
   * As every input, but less is also read where the rest is damaged.
   *
   * @param wanted not before the end of what was read last
   */
  @Override
  public void read(long wanted, ByteBuffer into) throws IOException {
    if (wanted < position) {
      throw new IllegalStateException("a compressed segment is read forwards only");
    }
    try {
      InputStream from = inflated;
      if (from == null) {
        from = new GZIPInputStream(new Compressed(), BUFFER_BYTES);
        inflated = from;
      }
      from.skipNBytes(wanted - position);
      position = wanted;
      int count =
          from.readNBytes(into.array(), into.arrayOffset() + into.position(), into.remaining());
      into.position(into.position() + count);
      position += count;
    } catch (ZipException | java.io.EOFException damaged) {
      System.getLogger(InflatedInput.class.getName())
          .log(System.Logger.Level.DEBUG, "a compressed segment is damaged", damaged);
    }
  }

  @Override
  public void close() throws IOException {
    if (inflated != null) {
      inflated.close();
    }
    compressed.close();
  }

  /** The bytes of the file. */
  private final class Compressed extends InputStream {
    private long at;

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] into, int from, int count) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(into, from, count);
      compressed.read(at, bytes);
      int read = count - bytes.remaining();
      at += read;
      return read == 0 && count > 0 ? -1 : read;
    }
  }
}
