package dev.blackbox.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The kernel's table of TCP connections, for one local port. Format: proc(5), {@code
 * /proc/net/tcp}: slot, local address:port, remote address:port, state, all hexadecimal. Not
 * thread-safe.
 */
final class TcpTable {

  /** {@code TCP_ESTABLISHED} of the kernel's tcp_states.h: both directions are open. */
  private static final int ESTABLISHED = 1;

  /** {@code TCP_LISTEN}. */
  private static final int LISTEN = 10;

  private final int localPort;

  /** All that may have the port, until it is known which has: a look at each takes milliseconds. */
  private List<Path> files;

  private byte[] content = new byte[64 << 10];

  TcpTable(int localPort, Path... files) {
    this.localPort = localPort;
    this.files = List.of(files);
  }

  /**
   * The remote ports of the connections that are open in both directions.
   *
   * @throws IOException if the system has no such table
   */
  Set<Integer> connectedPeers() throws IOException {
    Set<Integer> peers = new HashSet<>();
    boolean found = false;
    for (Path file : files) {
      int length;
      try {
        length = read(file);
      } catch (NoSuchFileException absent) {
        continue;
      }
      found = true;
      if (collect(length, peers)) {
        files = List.of(file);
        break;
      }
    }
    if (!found) {
      throw new NoSuchFileException(files.toString());
    }
    return peers;
  }

  private int read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      int length = 0;
      int more = in.read(content, 0, content.length);
      while (more > 0) {
        length += more;
        if (length == content.length) {
          content = Arrays.copyOf(content, 2 * content.length);
        }
        more = in.read(content, length, content.length - length);
      }
      return length;
    }
  }

  /** Whether the listening socket is in this table, and so all that it accepts. */
  private boolean collect(int length, Set<Integer> peers) {
    boolean listens = false;
    int line = 0;
    while (line < length) {
      int next = line;
      while (next < length && content[next] != '\n') {
        next++;
      }
      // "  sl  local_address rem_address   st …": the first two colons after the slot's own.
      int slot = indexOf(':', line, next);
      int local = indexOf(':', slot + 1, next);
      if (slot < next && local < next && hex(local + 1, 4) == localPort) {
        int remote = indexOf(':', local + 1, next);
        int state = remote + 6;
        int code = state + 1 < next ? hex(state, 2) : 0;
        listens |= code == LISTEN;
        if (code == ESTABLISHED) {
          peers.add(hex(remote + 1, 4));
        }
      }
      line = next + 1;
    }
    return listens;
  }

  private int indexOf(char wanted, int from, int end) {
    int position = from;
    while (position < end && content[position] != wanted) {
      position++;
    }
    return position;
  }

  /** -1 if it is no number, as in the table's headline. */
  private int hex(int from, int digits) {
    int value = 0;
    for (int i = from; i < from + digits; i++) {
      int digit = i < content.length ? Character.digit(content[i], 16) : -1;
      if (digit < 0) {
        return -1;
      }
      value = value * 16 + digit;
    }
    return value;
  }
}
