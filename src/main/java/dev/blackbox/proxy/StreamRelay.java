package dev.blackbox.proxy;

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
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Passes a stream of events on as it comes, in the agent's words, and reads along.
 *
 * <ul>
 *   <li>Only whole events go out, so that an error can follow at any time and is not glued to half
 *       an event.
 *   <li>Until the first event with content nothing goes out, so that an error that comes first can
 *       still become an HTTP status.
 *   <li>Tool calls go out when all is whole, so that an agent never runs one that is not.
 *   <li>A stream is whole when its choices have finished; one that was not is never ended well.
 * </ul>
 */
final class StreamRelay {

  private static final int READ_BYTES_MAX = 16 << 10;

  /** How long an engine may take to send its usage and last event after the finish reason. */
  private static final Duration FINISHING_MAX = Duration.ofSeconds(10);

  /** How long an engine may take to close a stream whose last event it has sent. */
  private static final Duration CLOSING_MAX = Duration.ofSeconds(1);

  private final ModelCall call;
  private final UpstreamCall engine;
  private final UpstreamHead head;
  private final SseDecoder decoder;
  private final ChatProgress progress;
  private final AgentAnswer answer;
  private final StreamSpeech speech;

  private final long toolCallBytesMax;

  /** Of the events with pieces of tool calls, which are held back. */
  private long toolCallBytes;

  /** Whether an event with content has come. */
  private boolean begun;

  /** Whether the finish reason has come. */
  private boolean finishing;

  StreamRelay(ModelCall call, UpstreamCall engine, UpstreamHead head, ProxyConfig config) {
    this.call = call;
    this.engine = engine;
    this.head = head;
    this.decoder = new SseDecoder((int) Math.min(config.responseBytesMax(), Integer.MAX_VALUE / 4));
    this.toolCallBytesMax = config.toolCallBytesMax();
    this.progress = call.progress();
    this.answer = call.answer();
    this.speech = call.speech().events();
  }

  void run() throws CallFailure, VisitEndedException, UpstreamException {
    byte[] buffer = new byte[READ_BYTES_MAX];
    try {
      int length = call.read(engine, buffer);
      while (length >= 0) {
        call.received().add(buffer, length);
        decoder.append(buffer, 0, length);
        takeEvents();
        if (progress.done()) {
          end();
          awaitClosing(buffer);
          return;
        }
        if (isWhole() && !finishing) {
          finishing = true;
          engine.idleTimeout(call.bounded(FINISHING_MAX));
        }
        length = call.read(engine, buffer);
      }
      takeRest();
    } catch (UpstreamException broken) {
      if (!isWhole() || broken.kind() == UpstreamException.Kind.CANCELLED) {
        throw broken;
      }
    }
    if (!isWhole()) {
      throw CallFailure.truncated("the engine's stream ended without a finish reason");
    }
    end();
  }

  private void end() throws VisitEndedException {
    send(ByteSlice.of(speech.end(progress.done())));
    answer.end();
  }

  private void takeEvents() throws CallFailure, VisitEndedException {
    try {
      SseDecoder.Event event = decoder.next();
      while (event != null && !progress.done()) {
        take(event);
        event = decoder.next();
      }
    } catch (SseTooLongException tooLong) {
      sendPending();
      throw CallFailure.malformed("the engine's stream is refused: " + tooLong.getMessage());
    } catch (CallFailure failure) {
      sendPending();
      throw failure;
    }
    sendPending();
  }

  /** An engine may forget the empty line after its last event. */
  private void takeRest() throws CallFailure, VisitEndedException {
    SseDecoder.Event rest = decoder.rest();
    if (rest == null || !rest.hasContent()) {
      return;
    }
    try {
      follow(rest);
    } catch (CallFailure failure) {
      if (progress.error() != null) {
        throw failure;
      }
      if (isWhole()) {
        return;
      }
      throw CallFailure.truncated("the engine's stream ended within an event");
    }
    call.answering();
    speech.takeUnterminated(rest, progress);
    sendPending();
  }

  private void take(SseDecoder.Event event) throws CallFailure {
    if (event.hasContent()) {
      follow(event);
      call.answering();
      speech.take(event, progress);
      begun = true;
    } else if (begun) {
      speech.takeAside(event);
    }
  }

  /** Reads along. */
  private void follow(SseDecoder.Event event) throws CallFailure {
    ByteSlice data = Objects.requireNonNull(event.data());
    try {
      progress.chunk(data);
    } catch (MalformedJsonException malformed) {
      throw CallFailure.malformed("an event of the engine's stream is " + malformed.getMessage());
    }
    Map<String, @Nullable Object> error = progress.error();
    if (error != null) {
      ByteSlice raw = event.raw();
      throw CallFailure.ofFrame(error, Arrays.copyOfRange(raw.array(), raw.start(), raw.end()));
    }
    if (!progress.toolPieces().isEmpty()) {
      toolCallBytes += event.raw().length();
      if (toolCallBytes > toolCallBytesMax) {
        throw CallFailure.malformed(
            "the tool calls of the engine's answer are longer than " + toolCallBytesMax + " bytes");
      }
    }
    if (progress.done() && !isWhole()) {
      throw CallFailure.truncated("the engine's stream was ended without a finish reason");
    }
  }

  private boolean isWhole() {
    return progress.finished(call.speech().choices());
  }

  private void sendPending() throws VisitEndedException {
    ByteSlice out = speech.pending();
    if (out != null) {
      send(out);
    }
  }

  private void send(ByteSlice bytes) throws VisitEndedException {
    if (bytes.length() == 0) {
      return;
    }
    if (!answer.begun()) {
      answer.begin(200, call.speech().streamHeaders(head));
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
