package dev.blackbox.proxy;

import dev.blackbox.translate.AgentFailure;
import dev.blackbox.translate.DialectStream;
import dev.blackbox.translate.ErrorClass;
import dev.blackbox.translate.StreamEvent;
import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.ChatStreamEvent;
import dev.blackbox.wire.MalformedJsonException;
import dev.blackbox.wire.SseDecoder;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The engine's events in another dialect, one by one. */
final class TranslatedStreamSpeech implements StreamSpeech {

  private final DialectStream stream;
  private final boolean endsQuietly;
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();

  /** The events with which the stream itself failed. */
  private byte @Nullable [] lastWords;

  /**
   * @param endsQuietly whether an empty answer ends the agents of this dialect
   */
  TranslatedStreamSpeech(DialectStream stream, boolean endsQuietly) {
    this.stream = stream;
    this.endsQuietly = endsQuietly;
  }

  @Override
  public void take(SseDecoder.Event event, ChatProgress answer) throws CallFailure {
    ByteSlice data = event.data();
    if (data == null) {
      return;
    }
    List<StreamEvent> out;
    try {
      out = stream.accept(ChatStreamEvent.parse(data));
    } catch (MalformedJsonException malformed) {
      throw CallFailure.malformed("an event of the engine's stream is " + malformed.getMessage());
    }
    if (stream.state() == DialectStream.State.FAILED) {
      lastWords = bytes(out);
      AgentFailure told =
          stream.failure().orElseGet(() -> AgentFailure.of(ErrorClass.TRANSPORT, "broken"));
      throw CallFailure.malformed("the engine's answer is broken: " + told.message());
    }
    out.forEach(translated -> pending.writeBytes(translated.toBytes()));
  }

  @Override
  public void takeUnterminated(SseDecoder.Event event, ChatProgress answer) throws CallFailure {
    take(event, answer);
  }

  /** The agent's dialect has its own ways to say nothing. */
  @Override
  public void takeAside(SseDecoder.Event event) {}

  @Override
  public @Nullable ByteSlice pending() {
    if (pending.size() == 0) {
      return null;
    }
    ByteSlice out = ByteSlice.of(pending.toByteArray());
    pending.reset();
    return out;
  }

  @Override
  public byte[] end(boolean doneCame) {
    return bytes(stream.end());
  }

  @Override
  public byte[] failure(CallFailure failure) {
    byte[] said = lastWords;
    return said == null ? bytes(stream.fail(failure.told())) : said;
  }

  @Override
  public byte[] keepAlive() {
    return bytes(stream.keepAlive());
  }

  @Override
  public boolean failureEndsTheAnswer() {
    return true;
  }

  @Override
  public Optional<byte[]> quietEnd() {
    return endsQuietly ? Optional.of(bytes(stream.endVoid())) : Optional.empty();
  }

  private static byte[] bytes(List<StreamEvent> events) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    events.forEach(event -> all.writeBytes(event.toBytes()));
    return all.toByteArray();
  }
}
