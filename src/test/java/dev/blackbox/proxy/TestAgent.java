package dev.blackbox.proxy;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * An agent's HTTP client by hand, which sees what a client library hides: when bytes came, and
 * whether an answer came to its end.
 */
final class TestAgent implements AutoCloseable {

  /** No read in a test may last longer. */
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

  private final Socket socket;
  private final AnswerReader in;

  TestAgent(int port) throws IOException {
    this(port, READ_TIMEOUT);
  }

  TestAgent(int port, Duration readTimeout) throws IOException {
    socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) readTimeout.toMillis());
    in = new AnswerReader(new BufferedInputStream(socket.getInputStream()));
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
    return in.head();
  }

  /** One chunk of a chunked body; empty at the last. */
  String chunk() throws IOException {
    return in.chunk();
  }

  /** Reads on until the other side closes, and says how many bytes came. */
  long restOfBody() throws IOException {
    return in.rest();
  }

  Answer answer() throws IOException {
    return in.answer();
  }

  /** True if the other side has closed the connection, or does so now. */
  boolean isClosedByProxy() throws IOException {
    try {
      return in.isAtEnd();
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
}
