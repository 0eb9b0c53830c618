package dev.blackbox.agent;

import dev.blackbox.kernel.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/**
 * Reads lines from a file that a process appends to, from where the file ended when reading began.
 * It never waits: a child of the process that keeps the file open blocks nobody. For one thread.
 */
public final class LineReader implements Resource {

  private static final int BUFFER_BYTES = 64 << 10;

  /** No channel: an interrupt would close that in the middle of a read. */
  private final RandomAccessFile file;

  private final int lineBytesMax;
  private final long bytesMax;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private ByteArrayOutputStream line = new ByteArrayOutputStream();
  private long bytes;

  /** Gets one line, without its end. */
  public interface Sink {
    void line(byte[] line) throws CliOutputException;
  }

  /**
   * @param from offset in bytes
   * @param lineBytesMax longest line
   * @param bytesMax most that is read in all
   */
  public LineReader(Path file, long from, int lineBytesMax, long bytesMax) throws IOException {
    this.file = new RandomAccessFile(file.toFile(), "r");
    this.file.seek(from);
    this.lineBytesMax = lineBytesMax;
    this.bytesMax = bytesMax;
  }

  /**
   * Reads what is there, but no more than was there when it was called.
   *
   * @return true if there was something
   * @throws CliOutputException if a bound was reached, or the sink's own
   */
  public boolean read(Sink sink) throws IOException, CliOutputException {
    long left = file.length() - file.getFilePointer();
    boolean any = left > 0;
    while (left > 0) {
      int count = file.read(buffer);
      if (count <= 0) {
        break;
      }
      left -= count;
      bytes += count;
      split(buffer, count, sink);
      if (bytes > bytesMax) {
        throw CliOutputException.transport("printed more than " + bytesMax + " bytes in one turn");
      }
    }
    return any;
  }

  /** The process has ended: what follows the last line end is a line, too. */
  public void finish(Sink sink) throws CliOutputException {
    if (line.size() > 0) {
      endLine(sink);
    }
  }

  private void split(byte[] array, int count, Sink sink) throws CliOutputException {
    int start = 0;
    for (int i = 0; i < count; i++) {
      if (array[i] == '\n') {
        append(array, start, i - start);
        start = i + 1;
        endLine(sink);
      }
    }
    append(array, start, count - start);
  }

  private void append(byte[] array, int start, int count) throws CliOutputException {
    if (line.size() + count > lineBytesMax) {
      line = new ByteArrayOutputStream();
      throw CliOutputException.transport("printed a line of more than " + lineBytesMax + " bytes");
    }
    line.write(array, start, count);
  }

  private void endLine(Sink sink) throws CliOutputException {
    byte[] whole = line.toByteArray();
    if (line.size() > BUFFER_BYTES) {
      line = new ByteArrayOutputStream(); // one long line must not hold its memory for the turn
    } else {
      line.reset();
    }
    sink.line(whole);
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException unimportant) {
      // it was only read from
    }
  }
}
