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

  /** The call is over. Does not wait. */
  void end(CallSink.CallEnded end) {
    if (!all.isOn()) {
      return;
    }
    boolean wanted =
        end.sentAt().isPresent()
            && (all.config().mode() == CaptureConfig.Mode.ALL || !end.verdict().equals("ok"));
    if (!wanted) {
      forget();
    } else if (lost) {
      forget();
      all.dropped("there is no memory for its bodies");
    } else {
      all.keep(
          new CaptureFiles.Bodies(end, request, requestBytes, answer, answerLength, answerBytes),
          reserved);
      reserved = 0;
    }
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
