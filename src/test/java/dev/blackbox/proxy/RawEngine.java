package dev.blackbox.proxy;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An engine that streams exactly the bytes it is told to, in the packets that it is told to. */
final class RawEngine implements AutoCloseable {

  private static final int BACKLOG = 2048;

  /** Sends one answer. */
  interface Answer {
    void send(Packets packets) throws IOException, InterruptedException;
  }

  /** Each is a chunk of its own, and on its way when this returns. */
  interface Packets {
    void send(byte[] bytes) throws IOException;
  }

  private final ServerSocket listener;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile Answer answer;

  RawEngine(Answer answer) throws IOException {
    this.answer = answer;
    listener = new ServerSocket(0, BACKLOG, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    threads.execute(this::listen);
  }

  URI origin() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /** For calls from now on. */
  void answerWith(Answer other) {
    answer = other;
  }

  private void listen() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        sockets.add(socket);
        threads.execute(() -> serve(socket));
      } catch (IOException closed) {
        if (!listener.isClosed()) {
          throw new UncheckedIOException(closed);
        }
      }
    }
  }

  /** One call per connection. */
  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      int length = 0;
      for (String line = line(in); !line.isEmpty(); line = line(in)) {
        if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
          length = Integer.parseInt(line.substring(line.indexOf(':') + 1).strip());
        }
      }
      in.skipNBytes(length);
      OutputStream out = socket.getOutputStream();
      out.write(ascii("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
      out.write(ascii("Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"));
      answer.send(
          bytes -> {
            byte[] head = ascii(Integer.toHexString(bytes.length) + "\r\n");
            byte[] packet = new byte[head.length + bytes.length + 2];
            System.arraycopy(head, 0, packet, 0, head.length);
            System.arraycopy(bytes, 0, packet, head.length, bytes.length);
            packet[packet.length - 2] = '\r';
            packet[packet.length - 1] = '\n';
            out.write(packet);
          });
      out.write(ascii("0\r\n\r\n"));
    } catch (IOException gone) {
      // The proxy has left, which its side of the test sees.
      return;
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } finally {
      sockets.remove(socket);
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n' && b >= 0; b = in.read()) {
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    threads.shutdownNow();
    threads.close();
  }
}
