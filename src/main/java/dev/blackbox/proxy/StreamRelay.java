package dev.blackbox.proxy;

import dev.blackbox.translate.ChatDialect;
import dev.blackbox.upstream.UpstreamCall;
import dev.blackbox.upstream.UpstreamException;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.MalformedJsonException;
import dev.blackbox.wire.SseDecoder;
import dev.blackbox.wire.SseTooLongException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Passes a stream of events on as it comes, byte for byte, and reads along.
 *
 * <ul>
 *   <li>Only whole events go out, so that an error can follow at any time and is not glued to half
 *       an event.
 *   <li>Until the first event with content nothing goes out, so that an error that comes first can
 *       still become an HTTP status.
 *   <li>A stream is whole when its choices have finished; one that was not is never ended well.
 * </ul>
 */
final class StreamRelay {

  static final Map<String, String> EVENT_STREAM =
      Map.of("content-type", "text/event-stream; charset=utf-8");

  private static final int READ_BYTES_MAX = 16 << 10;

  /** How long an engine may take to close a stream whose last event it has sent. */
  private static final Duration CLOSING_MAX = Duration.ofSeconds(1);

  private final ChatCall call;
  private final UpstreamCall engine;
  private final UpstreamHead head;
  private final SseDecoder decoder;
  private final ChatProgress progress;
  private final AgentAnswer answer;

  /** What is to go out next; all within one array. */
  private @Nullable ByteSlice pending;

  StreamRelay(ChatCall call, UpstreamCall engine, UpstreamHead head, long eventBytesMax) {
    this.call = call;
    this.engine = engine;
    this.head = head;
    this.decoder = new SseDecoder((int) Math.min(eventBytesMax, Integer.MAX_VALUE / 4));
    this.progress = call.progress();
    this.answer = call.answer();
  }

  void run() throws EngineFailure, VisitEndedException, UpstreamException {
    byte[] buffer = new byte[READ_BYTES_MAX];
    try {
      int length = engine.read(buffer);
      while (length >= 0) {
        call.received(length);
        decoder.append(buffer, 0, length);
        takeEvents();
        if (progress.done()) {
          answer.end();
          awaitClosing(buffer);
          return;
        }
        length = engine.read(buffer);
      }
      takeRest();
    } catch (UpstreamException broken) {
      if (!isWhole() || broken.kind() == UpstreamException.Kind.CANCELLED) {
        throw broken;
      }
    }
    if (progress.done()) {
      answer.end();
      return;
    }
    if (!isWhole()) {
      throw EngineFailure.truncated("the engine's stream ended without a finish reason");
    }
    // Some engines leave the last event out; the answer is whole nevertheless.
    send(ByteSlice.of(ChatDialect.DONE_EVENT));
    answer.end();
  }

  private void takeEvents() throws EngineFailure, VisitEndedException {
    try {
      SseDecoder.Event event = decoder.next();
      while (event != null && !progress.done()) {
        take(event);
        event = decoder.next();
      }
    } catch (SseTooLongException tooLong) {
      sendPending();
      throw EngineFailure.malformed("the engine's stream is refused: " + tooLong.getMessage());
    }
    sendPending();
  }

  /** An engine may forget the empty line after its last event. */
  private void takeRest() throws EngineFailure, VisitEndedException {
    SseDecoder.Event rest = decoder.rest();
    if (rest == null || !rest.hasContent()) {
      return;
    }
    try {
      take(rest);
    } catch (EngineFailure failure) {
      if (progress.error() != null) {
        throw failure;
      }
      if (isWhole()) {
        return;
      }
      throw EngineFailure.truncated("the engine's stream ended within an event");
    }
    sendPending();
    byte last = rest.raw().array()[rest.raw().end() - 1];
    boolean lineEnded = last == '\n' || last == '\r';
    send(new ByteSlice(new byte[] {'\n', '\n'}, lineEnded ? 1 : 0, 2));
  }

  private void take(SseDecoder.Event event) throws EngineFailure, VisitEndedException {
    ByteSlice data = event.data();
    if (data == null || data.isBlank()) {
      if (answer.begun() || pending != null) {
        addToPending(event.raw());
      }
      return;
    }
    try {
      progress.chunk(data);
    } catch (MalformedJsonException malformed) {
      sendPending();
      throw EngineFailure.malformed("an event of the engine's stream is " + malformed.getMessage());
    }
    Map<String, @Nullable Object> error = progress.error();
    if (error != null) {
      sendPending();
      ByteSlice raw = event.raw();
      throw call.failureOf(error, Arrays.copyOfRange(raw.array(), raw.start(), raw.end()));
    }
    if (progress.done() && !isWhole()) {
      sendPending();
      throw EngineFailure.truncated("the engine's stream was ended without a finish reason");
    }
    addToPending(event.raw());
  }

  private boolean isWhole() {
    return progress.finished(call.choices());
  }

  private void addToPending(ByteSlice raw) {
    ByteSlice before = pending;
    pending = before == null ? raw : new ByteSlice(before.array(), before.start(), raw.end());
  }

  private void sendPending() throws VisitEndedException {
    ByteSlice out = pending;
    if (out != null) {
      pending = null;
      send(out);
    }
  }

  private void send(ByteSlice bytes) throws VisitEndedException {
    if (!answer.begun()) {
      Map<String, String> headers = new LinkedHashMap<>(EVENT_STREAM);
      headers.putAll(EngineHeaders.forAgent(head));
      answer.begin(200, headers);
    }
    answer.write(bytes.array(), bytes.start(), bytes.length());
  }

  /** Reads to the end, so that the connection can be used again. */
  private void awaitClosing(byte[] buffer) {
    engine.idleTimeout(CLOSING_MAX);
    try {
      long deadline = System.nanoTime() + CLOSING_MAX.toNanos();
      int length = 0;
      // Nothing that follows the last event is of interest.
      while (length >= 0 && System.nanoTime() < deadline) {
        length = engine.read(buffer);
      }
    } catch (UpstreamException notClosed) {
      // The answer is whole; only its connection is lost.
      return;
    }
  }
}
