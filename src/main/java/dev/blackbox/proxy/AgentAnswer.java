package dev.blackbox.proxy;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to the agent: either whole, or a stream that was begun. */
final class AgentAnswer {

  static final Map<String, String> JSON = Map.of("content-type", "application/json");

  static final Map<String, String> EVENT_STREAM =
      Map.of("content-type", "text/event-stream; charset=utf-8");

  /** For an answer that is begun before the engine's. */
  static final Map<String, String> LIVE_STREAM =
      Map.of(
          "content-type",
          "text/event-stream; charset=utf-8",
          "cache-control",
          "no-cache",
          "x-accel-buffering",
          "no");

  private final Visit visit;
  private final ServerResponse response;
  private @Nullable OutputStream stream;
  private @Nullable Tape tape;
  private boolean sent;
  private long lastWriteNanos = System.nanoTime();

  AgentAnswer(Visit visit, ServerResponse response) {
    this.visit = visit;
    this.response = response;
  }

  /** Keeps what is said from now on, for a retry of the agent. */
  void recordOn(Tape kept) {
    tape = kept;
  }

  /** Whether status and headers are on their way. */
  boolean begun() {
    return sent;
  }

  /** Whether more can be written to it. */
  boolean isStream() {
    return stream != null;
  }

  /** The connection will be closed after this answer. */
  void closeAfterwards() {
    response.header(HeaderValues.CONNECTION_CLOSE);
  }

  void whole(int status, Map<String, String> headers, byte[] body) throws VisitEndedException {
    head(status, headers);
    Tape kept = tape;
    if (kept != null) {
      kept.begin(new Tape.Head(status, headers, false));
      kept.append(body, 0, body.length);
      kept.end();
    }
    visit.tell(() -> response.send(body));
  }

  void whole(Reply reply) throws VisitEndedException {
    whole(reply.status(), reply.headers(), reply.body());
  }

  void begin(int status, Map<String, String> headers) {
    head(status, headers);
    stream = response.outputStream();
    if (tape != null) {
      tape.begin(new Tape.Head(status, headers, true));
    }
  }

  /** Sends on at once. */
  void write(byte[] bytes, int offset, int length) throws VisitEndedException {
    OutputStream out = stream;
    if (out == null) {
      throw new IllegalStateException("the stream was not begun");
    }
    if (tape != null) {
      tape.append(bytes, offset, length);
    }
    visit.tell(
        () -> {
          out.write(bytes, offset, length);
          out.flush();
        });
    lastWriteNanos = System.nanoTime();
  }

  void write(byte[] bytes) throws VisitEndedException {
    write(bytes, 0, bytes.length);
  }

  /** When the last write came to its end. */
  long lastWriteNanos() {
    return lastWriteNanos;
  }

  /** A whole stream has been written. The web server sends the last chunk. */
  void end() {
    OutputStream out = stream;
    if (tape != null) {
      tape.end();
    }
    if (out != null && !visit.isLeftBehind()) {
      try {
        out.close();
      } catch (IOException gone) {
        throw cut();
      }
    }
  }

  /**
   * To be thrown: closes the connection without the last chunk, so that the agent sees that the
   * answer is not whole.
   */
  static CloseConnectionException cut() {
    return new CloseConnectionException("the answer to the agent is not whole");
  }

  private void head(int status, Map<String, String> headers) {
    if (sent) {
      throw new IllegalStateException("the answer was begun before");
    }
    sent = true;
    response.status(Status.create(status));
    headers.forEach((name, value) -> response.header(HeaderNames.create(name), value));
  }
}
