package dev.blackbox.http;

import io.helidon.webserver.CloseConnectionException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;

/**
 * The way to a client. Whatever goes wrong on it means that the client is gone or does not read,
 * and ends the connection; it never looks like a failure of what is being written.
 */
final class ClientStream extends FilterOutputStream {

  private final WatchedConnection connection;
  private final Duration pieceTimeout;

  ClientStream(OutputStream out, WatchedConnection connection, Duration pieceTimeout) {
    super(out);
    this.connection = connection;
    this.pieceTimeout = pieceTimeout;
  }

  @Override
  public void write(int single) {
    write(new byte[] {(byte) single}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    connection.expectWithin(pieceTimeout);
    try {
      out.write(bytes, offset, length);
    } catch (IOException | RuntimeException gone) {
      throw new CloseConnectionException("the client went away within its answer", gone);
    } finally {
      connection.expectNothing();
    }
  }

  /** Helidon sends what is in its buffer when the answer is complete. */
  @Override
  public void flush() {}
}
