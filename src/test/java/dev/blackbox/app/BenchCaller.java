package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.DoubleConsumer;

/**
 * The cheapest client there is, on one connection: it reads an answer to its end, and looks only
 * for what {@link BenchEngine} put there.
 */
final class BenchCaller implements Resource {

  private static final byte[] HEAD_END = {'\r', '\n', '\r', '\n'};
  private static final byte[] LAST_CHUNK = {'\r', '\n', '0', '\r', '\n', '\r', '\n'};

  private final Socket socket;
  private final InputStream in;
  private final String head;
  private final byte[] buffer = new byte[256 << 10];
  private int length;
  private long newestNanos = Long.MIN_VALUE;

  /**
   * @param key the agent's; empty towards the engine itself
   */
  BenchCaller(int port, String path, String key) throws IOException {
    socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    socket.setTcpNoDelay(true);
    in = socket.getInputStream();
    String authorization = key.isEmpty() ? "" : "Authorization: Bearer " + key + "\r\n";
    head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            + authorization
            + "Content-Length: ";
  }

  /**
   * Makes a call.
   *
   * @param delays is told for each event how many milliseconds it was on its way
   * @return milliseconds to the end of the answer
   */
  double call(byte[] body, DoubleConsumer delays) throws IOException {
    byte[] start = (head + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
    byte[] all = new byte[start.length + body.length];
    System.arraycopy(start, 0, all, 0, start.length);
    System.arraycopy(body, 0, all, start.length, body.length);
    long sent = System.nanoTime();
    socket.getOutputStream().write(all);
    length = 0;
    while (indexOf(HEAD_END, 0) < 0) {
      fill();
    }
    String answered = text(0, indexOf(HEAD_END, 0));
    if (!answered.startsWith("HTTP/1.1 200")) {
      throw new IOException("answered with " + answered);
    }
    int bodyStart = indexOf(HEAD_END, 0) + HEAD_END.length;
    int declared = contentLength(answered);
    if (declared >= 0) {
      while (length < bodyStart + declared) {
        fill();
      }
    } else {
      readStream(bodyStart, delays);
    }
    return (System.nanoTime() - sent) / 1e6;
  }

  private void readStream(int from, DoubleConsumer delays) throws IOException {
    int looked = from;
    while (!endsWithLastChunk()) {
      looked = tellDelays(looked, delays);
      // What was looked at is not needed, but for the end of it.
      int kept = Math.min(LAST_CHUNK.length, length);
      int dropped = Math.min(looked, length - kept);
      if (dropped > buffer.length / 2) {
        System.arraycopy(buffer, dropped, buffer, 0, length - dropped);
        length -= dropped;
        looked -= dropped;
      }
      fill();
    }
    tellDelays(looked, delays);
  }

  /** Looks at the times that are whole, and says from where to look next. */
  private int tellDelays(int from, DoubleConsumer delays) {
    long now = System.nanoTime();
    int position = from;
    while (true) {
      int at = indexOf('@', position);
      int end = at < 0 ? -1 : indexOf('@', at + 1);
      if (end < 0) {
        return at < 0 ? length : at;
      }
      long sentNanos = Long.parseLong(text(at + 1, end));
      // A Responses stream repeats its text at its end: only the first mention was just sent.
      if (sentNanos > newestNanos) {
        newestNanos = sentNanos;
        delays.accept((now - sentNanos) / 1e6);
      }
      position = end + 1;
    }
  }

  private static int contentLength(String answered) {
    for (String line : answered.split("\r\n")) {
      if (line.regionMatches(true, 0, "content-length:", 0, "content-length:".length())) {
        return Integer.parseInt(line.substring("content-length:".length()).strip());
      }
    }
    return -1;
  }

  private boolean endsWithLastChunk() {
    for (int i = 0; i < LAST_CHUNK.length; i++) {
      if (length < LAST_CHUNK.length || buffer[length - LAST_CHUNK.length + i] != LAST_CHUNK[i]) {
        return false;
      }
    }
    return true;
  }

  private int indexOf(byte[] wanted, int from) {
    for (int i = from; i + wanted.length <= length; i++) {
      int same = 0;
      while (same < wanted.length && buffer[i + same] == wanted[same]) {
        same++;
      }
      if (same == wanted.length) {
        return i;
      }
    }
    return -1;
  }

  private int indexOf(char wanted, int from) {
    for (int i = from; i < length; i++) {
      if (buffer[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  private String text(int from, int to) {
    return new String(buffer, from, to - from, StandardCharsets.ISO_8859_1);
  }

  private void fill() throws IOException {
    if (length == buffer.length) {
      throw new IOException("an answer that the bench has no room for");
    }
    int more = in.read(buffer, length, buffer.length - length);
    if (more < 0) {
      throw new IOException("the answer was not whole: " + length + " bytes");
    }
    length += more;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
