package dev.blackbox.http;

import dev.blackbox.wire.Json;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A client that sends what it is told, byte for byte, reads answers as they come, and holds each
 * against {@link ApiDescription}.
 */
final class RawClient implements Closeable {

  private static final int READ_TIMEOUT_MILLIS = 10_000;

  private final Socket socket;
  private final InputStream in;
  private final SentRequests sent = new SentRequests();

  RawClient(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(READ_TIMEOUT_MILLIS);
    in = socket.getInputStream();
  }

  RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.UTF_8));
  }

  RawClient send(byte[] bytes) throws IOException {
    sent.sent(bytes);
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
    return this;
  }

  /**
   * @param headers by lower-case name
   */
  record Reply(int status, Map<String, String> headers, String body) {
    Map<String, @Nullable Object> json() {
      return Json.object(body);
    }

    @Nullable Object at(String field) {
      return json().get(field);
    }

    /** The {@code type} and {@code loc} of each fault, as {@code "missing body.router"}. */
    List<String> faults() {
      List<String> faults = new ArrayList<>();
      if (at("details") instanceof Map<?, ?> details
          && details.get("errors") instanceof List<?> errors) {
        errors.forEach(error -> faults.add(fault((Map<?, ?>) error)));
      }
      return faults;
    }

    private static String fault(Map<?, ?> error) {
      StringBuilder place = new StringBuilder();
      if (error.get("loc") instanceof List<?> steps) {
        steps.forEach(step -> place.append(place.isEmpty() ? "" : ".").append(step));
      }
      return error.get("type") + " " + place;
    }
  }

  Reply reply() throws IOException {
    return reply(true);
  }

  /**
   * @param withBody false for the answer to HEAD
   */
  Reply reply(boolean withBody) throws IOException {
    String statusLine = line();
    Map<String, String> headers = new TreeMap<>();
    for (String header = line(); !header.isEmpty(); header = line()) {
      int colon = header.indexOf(':');
      headers.put(
          header.substring(0, colon).toLowerCase(Locale.ROOT), header.substring(colon + 1).strip());
    }
    byte[] body = withBody ? body(headers) : new byte[0];
    Reply reply =
        new Reply(
            Integer.parseInt(statusLine.split(" ", 3)[1]),
            headers,
            new String(body, StandardCharsets.UTF_8));
    holdAgainstDescription(reply);
    return reply;
  }

  private void holdAgainstDescription(Reply reply) {
    Optional<SentRequests.Line> answered = sent.answered();
    if (answered.isPresent()) {
      ApiDescription.shipped()
          .check(
              answered.get().method(),
              answered.get().target(),
              reply.status(),
              reply.headers(),
              reply.body());
    } else if (reply.status() >= 400) {
      ApiDescription.shipped().checkError(reply.headers(), reply.body());
    }
  }

  private byte[] body(Map<String, String> headers) throws IOException {
    if (!"chunked".equals(headers.get("transfer-encoding"))) {
      return exactly(Integer.parseInt(headers.get("content-length")));
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (int size = size(); size > 0; size = size()) {
      whole.write(exactly(size));
      line();
    }
    line();
    return whole.toByteArray();
  }

  private int size() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private byte[] exactly(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the server closed within its answer");
    }
    return bytes;
  }

  String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  /** Sends nothing more; what the server still has to say can be read. */
  RawClient finish() throws IOException {
    socket.shutdownOutput();
    return this;
  }

  /** True once the server has closed; fails if it does not within the read timeout. */
  boolean isClosedByServer() throws IOException {
    try {
      return in.read() < 0;
    } catch (java.net.SocketException reset) {
      return true;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
