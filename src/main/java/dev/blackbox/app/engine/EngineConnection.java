package dev.blackbox.app.engine;

import dev.blackbox.kernel.Resource;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One connection of the scripted engine: just enough of HTTP/1.1, by hand, so that faults can be
 * exact to the byte. Used by one thread.
 */
final class EngineConnection implements Resource {

  private static final int LINE_BYTES_MAX = 64 << 10;
  private static final int BODY_BYTES_MAX = 256 << 20;

  private final Socket socket;
  private final PushbackInputStream in;
  private final OutputStream out;

  EngineConnection(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    this.in = new PushbackInputStream(new BufferedInputStream(socket.getInputStream()), 1);
    this.out = socket.getOutputStream();
  }

  /** The next request, or null if the other side is done. */
  @Nullable EngineRequest next() throws IOException {
    int first = in.read();
    if (first < 0) {
      return null;
    }
    in.unread(first);
    String[] start = line().split(" ", 3);
    if (start.length != 3) {
      throw new IOException("not an HTTP request line");
    }
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      if (colon < 1) {
        throw new IOException("not an HTTP header");
      }
      headers
          .computeIfAbsent(
              line.substring(0, colon).toLowerCase(Locale.ROOT), _ -> new ArrayList<>())
          .add(line.substring(colon + 1).strip());
    }
    return new EngineRequest(start[0], start[1], headers, body(headers), Instant.now());
  }

  void respond(int status, String contentType, Map<String, String> headers, byte[] body)
      throws IOException {
    ByteArrayOutputStream whole = new ByteArrayOutputStream(body.length + 256);
    whole.writeBytes(head(status, contentType, headers, "content-length: " + body.length));
    whole.writeBytes(body);
    whole.writeTo(out);
    out.flush();
  }

  /** Promises {@code length} bytes and sends only the first part of them. */
  void respondInPart(byte[] part, int length) throws IOException {
    out.write(head(200, "application/json", Map.of(), "content-length: " + length));
    out.write(part);
    out.flush();
  }

  void beginStream() throws IOException {
    out.write(
        head(
            200,
            "text/event-stream; charset=utf-8",
            Map.of("cache-control", "no-cache, no-transform", "x-accel-buffering", "no"),
            "transfer-encoding: chunked"));
    out.flush();
  }

  /** One chunk, in one packet if it is small. */
  void chunk(byte[] bytes) throws IOException {
    if (bytes.length == 0) {
      return;
    }
    ByteArrayOutputStream framed = new ByteArrayOutputStream(bytes.length + 16);
    framed.writeBytes(ascii(Integer.toHexString(bytes.length) + "\r\n"));
    framed.writeBytes(bytes);
    framed.writeBytes(ascii("\r\n"));
    framed.writeTo(out);
    out.flush();
  }

  void endStream() throws IOException {
    out.write(ascii("0\r\n\r\n"));
    out.flush();
  }

  /** Waits. False, at once, if the other side hangs up. */
  boolean await(Duration time) throws IOException {
    if (time.isZero()) {
      return true;
    }
    socket.setSoTimeout(Math.clamp(time.toMillis(), 1, Integer.MAX_VALUE));
    try {
      int next = in.read();
      if (next < 0) {
        return false;
      }
      in.unread(next);
      throw new IOException("a second request came before the answer to the first");
    } catch (SocketTimeoutException waited) {
      return true;
    } finally {
      socket.setSoTimeout(0);
    }
  }

  /** Closes with a TCP reset: the other side loses what it has not read yet. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      // It is closed either way.
      return;
    }
  }

  private static byte[] head(
      int status, String contentType, Map<String, String> headers, String framing) {
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Scripted\r\n");
    head.append("content-type: ").append(contentType).append("\r\n");
    headers.forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
    return ascii(head + framing + "\r\n\r\n");
  }

  private byte[] body(Map<String, List<String>> headers) throws IOException {
    if (headers.containsKey("transfer-encoding")) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      for (int size = chunkSize(); size > 0; size = chunkSize()) {
        body.writeBytes(exactly(size));
        line();
      }
      line();
      return body.toByteArray();
    }
    List<String> length = headers.getOrDefault("content-length", List.of("0"));
    return exactly(Integer.parseInt(length.getFirst()));
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line().strip(), 16);
  }

  private byte[] exactly(int length) throws IOException {
    if (length > BODY_BYTES_MAX) {
      throw new IOException("a body of " + length + " bytes is too large for the scripted engine");
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the request's body is cut off");
    }
    return bytes;
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the request is cut off");
      }
      if (line.size() > LINE_BYTES_MAX) {
        throw new IOException("a line of the request is too long");
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
