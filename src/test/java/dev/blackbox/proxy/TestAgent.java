package dev.blackbox.proxy;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * An agent's HTTP client by hand, which sees what a client library hides: when bytes came, and
 * whether an answer came to its end.
 */
final class TestAgent implements AutoCloseable {

  /** No read in a test may last longer. */
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

  private final Socket socket;
  private final InputStream in;

  TestAgent(int port) throws IOException {
    this(port, READ_TIMEOUT);
  }

  TestAgent(int port, Duration readTimeout) throws IOException {
    socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) readTimeout.toMillis());
    in = new BufferedInputStream(socket.getInputStream());
  }

  /**
   * A whole answer.
   *
   * @param ended false if the connection was closed before the answer's end
   */
  record Answer(int status, Map<String, String> headers, String body, boolean ended) {}

  /** The head of an answer. */
  record Head(int status, Map<String, String> headers) {}

  /** Sends a request; headers are lines without their ends. */
  void send(String method, String path, byte[] body, String... headers) throws IOException {
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: proxy\r\n");
    for (String header : headers) {
      head.append(header).append("\r\n");
    }
    if (body.length > 0) {
      head.append("Content-Length: ").append(body.length).append("\r\n");
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    all.writeBytes(body);
    socket.getOutputStream().write(all.toByteArray());
    socket.getOutputStream().flush();
  }

  void sendRaw(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
    socket.getOutputStream().flush();
  }

  Head head() throws IOException {
    String status = line();
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return new Head(Integer.parseInt(status.split(" ")[1]), headers);
  }

  /** One chunk of a chunked body; empty at the last. */
  String chunk() throws IOException {
    int size = Integer.parseInt(line(), 16);
    byte[] bytes = exactly(size);
    line();
    return new String(bytes, StandardCharsets.UTF_8);
  }

  Answer answer() throws IOException {
    Head head = head();
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
    return new Answer(head.status(), head.headers(), body.toString(StandardCharsets.UTF_8), ended);
  }

  /** True if the other side has closed the connection, or does so now. */
  boolean isClosedByProxy() throws IOException {
    try {
      return in.read() < 0;
    } catch (SocketException reset) {
      return true;
    }
  }

  /** Leaves with a TCP reset, as a killed process with unread bytes does. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
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
