package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An engine that costs next to nothing: the model's name says what it answers. {@code plain}, or
 * {@code stream-200-20}: 200 events, 20 ms apart. Each event has the time at which it was sent, as
 * {@code @nanos@} of {@link System#nanoTime}, for a client in the same process.
 */
final class BenchEngine implements Resource {

  private static final int BACKLOG = 2048;
  private static final Pattern MODEL =
      Pattern.compile("\"model\":\"(plain|stream-(\\d+)-(\\d+))\"");
  private static final byte[] PLAIN =
      ascii(
          """
          {"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,\
          "message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],"usage":\
          {"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\
          """);

  private final ServerSocket listener;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  BenchEngine() throws IOException {
    listener = new ServerSocket(0, BACKLOG, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    threads.execute(this::listen);
  }

  int port() {
    return listener.getLocalPort();
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

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream(), 64 << 10);
      OutputStream out = socket.getOutputStream();
      for (byte[] body = body(in); body.length > 0; body = body(in)) {
        // The model stands at the front or at the back, as the translation left it.
        Matcher model = MODEL.matcher(new String(body, StandardCharsets.ISO_8859_1));
        if (!model.find()) {
          throw new IOException("a request without one of the bench's models");
        }
        if (model.group(2) == null) {
          plain(out);
        } else {
          stream(out, Integer.parseInt(model.group(2)), Integer.parseInt(model.group(3)));
        }
      }
    } catch (IOException gone) {
      // The other side has left, which the bench sees there.
      return;
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } finally {
      sockets.remove(socket);
    }
  }

  private static void plain(OutputStream out) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        ascii(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                + PLAIN.length
                + "\r\n\r\n"));
    all.writeBytes(PLAIN);
    out.write(all.toByteArray());
  }

  private static void stream(OutputStream out, int events, int apartMillis)
      throws IOException, InterruptedException {
    String type = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    out.write(ascii(type + "Transfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < events; i++) {
      if (apartMillis > 0) {
        TimeUnit.MILLISECONDS.sleep(apartMillis);
      }
      event(out, "{\"content\":\"@" + System.nanoTime() + "@\"}", "null", "");
    }
    event(
        out,
        "{}",
        "\"stop\"",
        ",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" + events + "}");
    byte[] done = ascii("data: [DONE]\n\n");
    out.write(ascii(Integer.toHexString(done.length) + "\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"));
  }

  private static void event(OutputStream out, String delta, String finish, String more)
      throws IOException {
    String event =
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
            + "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":"
            + delta
            + ",\"finish_reason\":"
            + finish
            + "}]"
            + more
            + "}\n\n";
    out.write(ascii(Integer.toHexString(event.length()) + "\r\n" + event + "\r\n"));
  }

  /** Empty at the end of the connection. */
  private static byte[] body(InputStream in) throws IOException {
    int length = 0;
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      if (line.regionMatches(true, 0, "content-length:", 0, "content-length:".length())) {
        length = Integer.parseInt(line.substring("content-length:".length()).strip());
      }
    }
    return in.readNBytes(length);
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
  public void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    threads.shutdownNow();
    threads.close();
  }
}
