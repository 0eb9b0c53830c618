package dev.blackbox.proxy;

import dev.blackbox.translate.BrokenAnswerException;
import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.ChatToolCalls;
import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.SseDecoder;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The engine's own events, byte for byte; those of tool calls once the calls are whole. */
final class ChatStreamSpeech implements StreamSpeech {

  private final int choices;
  private final ChatToolCalls toolCalls = new ChatToolCalls();

  /** What is to go out next. */
  private @Nullable ByteSlice pending;

  /**
   * @param choices number of answers asked for at once
   */
  ChatStreamSpeech(int choices) {
    this.choices = choices;
  }

  @Override
  public void take(SseDecoder.Event event, ChatProgress answer) throws CallFailure {
    take(event.raw(), answer);
  }

  private void take(ByteSlice raw, ChatProgress answer) throws CallFailure {
    boolean isOfCalls = !answer.toolPieces().isEmpty();
    try {
      if (answer.finishing()) {
        ChatToolCalls.requireGoodEnds(answer, choices);
      }
      if (!isOfCalls && !(answer.finishing() && !toolCalls.isEmpty())) {
        put(raw);
        return;
      }
      // No end before the calls that it ends.
      toolCalls.hold(raw, answer.toolPieces());
      if (answer.finished(choices)) {
        toolCalls.letOut(answer).forEach(held -> put(ByteSlice.of(held)));
      }
    } catch (BrokenAnswerException broken) {
      throw CallFailure.malformed("the engine's answer is broken: " + broken.text());
    }
  }

  /** Raw events lie next to each other in one array, unless one of them was held. */
  @SuppressWarnings("ReferenceEquality") // whether it is the same array is the question
  private void put(ByteSlice raw) {
    ByteSlice before = pending;
    if (before == null) {
      pending = raw;
    } else if (before.array() == raw.array() && before.end() == raw.start()) {
      pending = new ByteSlice(before.array(), before.start(), raw.end());
    } else {
      byte[] joined = Arrays.copyOf(before.toBytes(), before.length() + raw.length());
      System.arraycopy(raw.array(), raw.start(), joined, before.length(), raw.length());
      pending = ByteSlice.of(joined);
    }
  }

  @Override
  public void takeUnterminated(SseDecoder.Event event, ChatProgress answer) throws CallFailure {
    ByteSlice raw = event.raw();
    byte last = raw.array()[raw.end() - 1];
    boolean lineEnded = last == '\n' || last == '\r';
    byte[] terminated =
        Arrays.copyOfRange(
            raw.array(), raw.start(), raw.start() + raw.length() + (lineEnded ? 1 : 2));
    Arrays.fill(terminated, raw.length(), terminated.length, (byte) '\n');
    take(ByteSlice.of(terminated), answer);
  }

  @Override
  public void takeAside(SseDecoder.Event event) {
    put(event.raw());
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
  public Optional<byte[]> quietEnd() {
    return Optional.of(ChatDialect.emptyStream());
  }
}
