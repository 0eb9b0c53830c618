package dev.blackbox.proxy;

import dev.blackbox.translate.ChatDialect;
import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.SseDecoder;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The engine's own events, byte for byte. */
final class ChatStreamSpeech implements StreamSpeech {

  /** What is to go out next; all within one array, since raw events lie next to each other. */
  private @Nullable ByteSlice pending;

  @Override
  public void take(SseDecoder.Event event) {
    ByteSlice raw = event.raw();
    ByteSlice before = pending;
    pending = before == null ? raw : new ByteSlice(before.array(), before.start(), raw.end());
  }

  @Override
  public void takeUnterminated(SseDecoder.Event event) {
    ByteSlice raw = event.raw();
    byte last = raw.array()[raw.end() - 1];
    boolean lineEnded = last == '\n' || last == '\r';
    byte[] terminated =
        Arrays.copyOfRange(
            raw.array(), raw.start(), raw.start() + raw.length() + (lineEnded ? 1 : 2));
    Arrays.fill(terminated, raw.length(), terminated.length, (byte) '\n');
    pending = ByteSlice.of(terminated);
  }

  @Override
  public void takeAside(SseDecoder.Event event) {
    take(event);
  }

  @Override
  public @Nullable ByteSlice pending() {
    ByteSlice out = pending;
    pending = null;
    return out;
  }

  /** Some engines leave the last event out; the answer is whole nevertheless. */
  @Override
  public byte[] end(boolean doneCame) {
    return doneCame ? new byte[0] : ChatDialect.DONE_EVENT;
  }

  @Override
  public byte[] failure(CallFailure failure) {
    return failure.chatEvent();
  }

  @Override
  public byte[] keepAlive() {
    return ChatDialect.KEEP_ALIVE;
  }

  /** Clients take any end of a stream for a good one that is not a broken connection. */
  @Override
  public boolean failureEndsTheAnswer() {
    return false;
  }

  @Override
  public Optional<byte[]> quietEnd(boolean begun, int toolCalls) {
    // A good end would make the agent run half a tool call.
    return begun && toolCalls > 0 ? Optional.empty() : Optional.of(ChatDialect.emptyStream());
  }
}
