package dev.blackbox.proxy;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bodies of one call while it runs: of its last attempt, the request as it was sent and the
 * answer as it came. For the call's own thread.
 */
final class CallCapture {

  private static final int FIRST_BYTES = 4 << 10;

  private final CallCaptures all;
  private byte[] request = {};
  private long requestBytes;
  private byte[] answer = {};
  private int answerLength;

  /** As far as it came, kept or not. */
  private long answerBytes;

  /** Taken of what all have together. */
  private long reserved;

  private boolean lost;
  private CaptureDecision decision = CaptureDecision.OFF;

  CallCapture(CallCaptures all) {
    this.all = all;
  }

  /** Another attempt begins. */
  void sent(byte @Nullable [] body) {
    if (!all.isOn()) {
      return;
    }
    forget();
    lost = false;
    if (body == null) {
      return;
    }
    requestBytes = body.length;
    int kept = Math.min(body.length, all.config().bodyBytesMax());
    if (reserve(kept)) {
      // Nobody changes it any more, so that it need not be copied.
      request = kept == body.length ? body : Arrays.copyOf(body, kept);
    }
  }

  void received(byte[] buffer, int length) {
    if (!all.isOn()) {
      return;
    }
    answerBytes += length;
    int kept = Math.min(length, all.config().bodyBytesMax() - answerLength);
    if (lost || kept <= 0 || !fits(kept)) {
      return;
    }
    System.arraycopy(buffer, 0, answer, answerLength, kept);
    answerLength += kept;
  }

  /**
   * The call is over: what becomes of its bodies. Does not wait.
   *
   * @param sent whether the engine was asked
   */
  CaptureDecision decide(String callId, boolean sent, boolean good) {
    decision = decision(sent, good);
    if (decision == CaptureDecision.WANTED && !all.takePlace()) {
      decision = CaptureDecision.DROPPED;
    }
    if (decision == CaptureDecision.DROPPED) {
      all.dropped(callId, lost ? "no memory for its bodies" : "too many waited to be written");
    }
    if (decision != CaptureDecision.WANTED) {
      forget();
    }
    return decision;
  }

  private CaptureDecision decision(boolean sent, boolean good) {
    if (!all.isOn()) {
      return CaptureDecision.OFF;
    }
    if (!sent || (good && all.config().mode() != CaptureConfig.Mode.ALL)) {
      return CaptureDecision.NOT_WANTED;
    }
    return lost ? CaptureDecision.DROPPED : CaptureDecision.WANTED;
  }

  /** Hands the bodies on, if that was decided. Does not wait. */
  void end(CallSink.CallEnded end) {
    if (decision != CaptureDecision.WANTED) {
      return;
    }
    all.keep(
        new CaptureFiles.Bodies(end, request, requestBytes, answer, answerLength, answerBytes),
        reserved);
    reserved = 0;
    forget();
  }

  private boolean fits(int more) {
    if (answerLength + more <= answer.length) {
      return true;
    }
    int larger = Math.max(answerLength + more, Math.max(FIRST_BYTES, 2 * answer.length));
    int bounded = Math.min(larger, all.config().bodyBytesMax());
    if (!reserve(bounded - answer.length)) {
      return false;
    }
    answer = Arrays.copyOf(answer, bounded);
    return true;
  }

  private boolean reserve(long bytes) {
    if (all.reserve(bytes)) {
      reserved += bytes;
      return true;
    }
    forget();
    lost = true;
    return false;
  }

  private void forget() {
    all.release(reserved);
    reserved = 0;
    request = new byte[0];
    requestBytes = 0;
    answer = new byte[0];
    answerLength = 0;
    answerBytes = 0;
  }
}
