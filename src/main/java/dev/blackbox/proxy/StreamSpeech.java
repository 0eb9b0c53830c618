package dev.blackbox.proxy;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.SseDecoder;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The events of one answer as its agent gets them. What is taken in is to be sent on at once. */
sealed interface StreamSpeech permits ChatStreamSpeech, TranslatedStreamSpeech {

  /**
   * Takes an event that is no error and not broken.
   *
   * @param answer what the answer said so far, this event included
   * @throws CallFailure if what it says cannot be told to this agent
   */
  void take(SseDecoder.Event event, ChatProgress answer) throws CallFailure;

  /**
   * Takes the last event of an engine that forgot the empty line behind it.
   *
   * @throws CallFailure as {@link #take}
   */
  void takeUnterminated(SseDecoder.Event event, ChatProgress answer) throws CallFailure;

  /** Takes what says nothing, such as a comment. */
  void takeAside(SseDecoder.Event event);

  /** What is to go out now, or null; valid until the next event is taken. */
  @Nullable ByteSlice pending();

  /**
   * The last words of an answer that is whole.
   *
   * @param doneCame whether the engine said {@code [DONE]}
   */
  byte[] end(boolean doneCame);

  /** The last words of an answer that was begun and failed. */
  byte[] failure(CallFailure failure);

  /** What this agent counts as life, and nothing else. */
  byte[] keepAlive();

  /** Whether {@link #failure} itself says that the answer is over; else the connection is cut. */
  boolean failureEndsTheAnswer();

  /**
   * The last words that end an agent without a fuss whose rollout is void; empty if they would make
   * it do something.
   *
   * <p>Tool calls are held back until the answer is whole, so none can be run.
   */
  Optional<byte[]> quietEnd();
}
