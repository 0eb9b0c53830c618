package dev.blackbox.http;

import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A bad network between a client and a server: passes bytes on, and resets each connection where it
 * is told to, on both sides. Connections that no cut is left for are passed on whole.
 */
final class CuttingRelay implements Resource {

  /** Where a connection is reset: once so many bytes have passed that way. */
  record Cut(boolean ofRequest, long bytes) {
    static Cut request(long bytes) {
      return new Cut(true, bytes);
    }

    static Cut answer(long bytes) {
      return new Cut(false, bytes);
    }
  }

  private final int target;
  private final ServerSocket listener;
  private final Queue<Cut> cuts = new ArrayDeque<>();
  private final Queue<Socket> open = new ConcurrentLinkedQueue<>();

  /**
   * @param target port on this machine
   */
  CuttingRelay(int target) throws IOException {
    this.target = target;
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().name("relay").start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The next connections are cut like this, one each. */
  void cut(List<Cut> next) {
    synchronized (cuts) {
      cuts.clear();
      cuts.addAll(next);
    }
  }

  /** True if all cuts have been used. */
  boolean isThrough() {
    synchronized (cuts) {
      return cuts.isEmpty();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        open.add(client);
        Cut cut;
        synchronized (cuts) {
          cut = cuts.poll();
        }
        long requestMax = cut != null && cut.ofRequest() ? cut.bytes() : Long.MAX_VALUE;
        long answerMax = cut != null && !cut.ofRequest() ? cut.bytes() : Long.MAX_VALUE;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        open.add(server);
        Thread.ofVirtual().start(() -> pass(client, server, requestMax));
        Thread.ofVirtual().start(() -> pass(server, client, answerMax));
      }
    } catch (IOException closed) {
      close();
    }
  }

  private static void pass(Socket from, Socket to, long bytesMax) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[4096];
      long left = bytesMax;
      while (left > 0) {
        int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (count < 0) {
          to.shutdownOutput();
          return;
        }
        out.write(buffer, 0, count);
        out.flush();
        left -= count;
      }
      reset(from);
      reset(to);
    } catch (IOException gone) {
      reset(from);
      reset(to);
    }
  }

  /** With no time to linger, closing sends a reset instead of an orderly end. */
  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException alreadyClosed) {
      // The other direction was faster.
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    open.forEach(CuttingRelay::reset);
  }
}
