package dev.blackbox.proxy;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Reads an HTTP answer as it came, and sees whether it came to its end. */
final class AnswerReader {

  private final InputStream in;

  AnswerReader(InputStream in) {
    this.in = in;
  }

  TestAgent.Head head() throws IOException {
    String status = line();
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return new TestAgent.Head(Integer.parseInt(status.split(" ")[1]), headers);
  }

  /** One chunk of a chunked body; empty at the last. */
  String chunk() throws IOException {
    int size = Integer.parseInt(line(), 16);
    byte[] bytes = exactly(size);
    line();
    return new String(bytes, StandardCharsets.UTF_8);
  }

  TestAgent.Answer answer() throws IOException {
    TestAgent.Head head = head();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    boolean ended = true;
    try {
      if (head.headers().containsKey("content-length")) {
        body.writeBytes(exactly(Integer.parseInt(head.headers().get("content-length"))));
      } else {
        int size = Integer.parseInt(line(), 16);
        while (size > 0) {
          body.writeBytes(exactly(size));
          line();
          size = Integer.parseInt(line(), 16);
        }
        line();
      }
    } catch (EOFException cut) {
      ended = false;
    }
    return new TestAgent.Answer(
        head.status(), head.headers(), body.toString(StandardCharsets.UTF_8), ended);
  }

  boolean isAtEnd() throws IOException {
    return in.read() < 0;
  }

  /** How many bytes come before the connection is closed, by a reset or not. */
  long rest() throws IOException {
    byte[] piece = new byte[1 << 16];
    long bytes = 0;
    try {
      for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
        bytes += read;
      }
    } catch (SocketException _) {
      // What was not read before a reset is lost.
    }
    return bytes;
  }

  private byte[] exactly(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("cut");
    }
    return bytes;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("cut");
      }
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }
}
