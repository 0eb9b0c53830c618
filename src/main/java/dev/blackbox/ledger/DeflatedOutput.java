package dev.blackbox.ledger;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.GZIPOutputStream;

/** Writes a compressed segment: what {@code zcat} gives back is the segment. */
final class DeflatedOutput implements Closeable {

  private static final int BUFFER_BYTES = 1 << 16;

  private final JournalFiles.Output output;
  private final GZIPOutputStream deflating;

  DeflatedOutput(JournalFiles.Output output) throws IOException {
    this.output = output;
    this.deflating = new GZIPOutputStream(new Appending(), BUFFER_BYTES);
  }

  void append(ByteBuffer bytes) throws IOException {
    deflating.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
  }

  /** Nothing comes any more; forced. */
  void finish() throws IOException {
    deflating.close();
    output.force();
  }

  @Override
  public void close() throws IOException {
    output.close();
  }

  /** The file. */
  private final class Appending extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
      output.append(ByteBuffer.wrap(bytes, from, count));
    }
  }
}
