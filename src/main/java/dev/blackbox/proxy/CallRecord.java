package dev.blackbox.proxy;

import dev.blackbox.translate.AnthropicTokens;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.Fingerprints;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What the sink is told of one call, each once: its start and, if that was taken, its end. */
final class CallRecord {

  private static final System.Logger LOG = System.getLogger(CallRecord.class.getName());

  private final ModelCall.Means means;
  private final OpenTurn turn;
  private final String callId;
  private final int step;
  private final Speech speech;
  private final String purpose;
  private final Optional<CallSink.Resent> resent;
  private final CallCapture capture;
  private final ReceivedBytes received;
  private ChatProgress progress = new ChatProgress();
  private boolean started;
  private int engineStatus;
  private int retries;
  private String verdict = "internal_error";
  private @Nullable String error;
  private Optional<Instant> sentAt = Optional.empty();
  private Optional<Instant> firstByteAt = Optional.empty();
  private Optional<String> requestHash = Optional.empty();

  /** What was sent, until it is hashed. */
  private byte @Nullable [] unhashed;

  private long requestLength;

  /**
   * @param resent what it is to an earlier call of which it is the agent's own retry
   */
  CallRecord(
      ModelCall.Means means,
      OpenTurn turn,
      String callId,
      int step,
      Speech speech,
      String purpose,
      Optional<CallSink.Resent> resent) {
    this.means = means;
    this.turn = turn;
    this.callId = callId;
    this.step = step;
    this.speech = speech;
    this.purpose = purpose;
    this.resent = resent;
    this.capture = means.captures().begin();
    this.received = new ReceivedBytes(capture);
  }

  /** A call that cannot be recorded is not made: false then. */
  boolean start(long requestBytes) {
    CallSink.CallStarted start =
        new CallSink.CallStarted(
            callId,
            turn.key(),
            step,
            Route.nameOf(speech.dialect()),
            speech.stream(),
            speech.model(),
            requestBytes,
            means.clock().instant(),
            purpose,
            resent);
    try {
      means.sink().started(start);
      started = true;
    } catch (RuntimeException notRecorded) {
      LOG.log(System.Logger.Level.ERROR, "a model call cannot be recorded", notRecorded);
    }
    return started;
  }

  /** What the engine says in the present attempt. */
  ChatProgress progress() {
    return progress;
  }

  /** What came of the present attempt's body. */
  ReceivedBytes received() {
    return received;
  }

  /** HTTP status of the present attempt; 0 if there is none yet. */
  int engineStatus() {
    return engineStatus;
  }

  int retries() {
    return retries;
  }

  void retried() {
    retries++;
    progress = new ChatProgress();
  }

  void sent(byte @Nullable [] body) {
    requestHash = Optional.empty();
    unhashed = body;
    requestLength = body == null ? 0 : body.length;
    sentAt = Optional.of(means.clock().instant());
    engineStatus = 0;
    received.reset();
    capture.sent(body);
  }

  /**
   * While the engine works on it, because it takes a while: some ten milliseconds for a megabyte.
   */
  void hashRequest() {
    byte[] body = unhashed;
    if (body != null) {
      requestHash = Optional.of(Fingerprints.sha256Hex(body));
      unhashed = null;
    }
  }

  void answered(int status) {
    engineStatus = status;
    firstByteAt = Optional.of(means.clock().instant());
  }

  void verdict(String known) {
    verdict = known;
  }

  String verdict() {
    return verdict;
  }

  void failed(CallFailure failure) {
    verdict = failure.callVerdict();
    error = failure.meaning().message();
  }

  /** A whole answer without usage, which some engines give: its tokens are guessed by length. */
  private boolean guessesTokens() {
    return verdict.equals("ok")
        && sentAt.isPresent()
        && progress.usage().promptTokens().isEmpty()
        && progress.usage().completionTokens().isEmpty();
  }

  /** Tells of the end; a turn's totals have it first. */
  void end() {
    hashRequest();
    boolean guess = guessesTokens();
    CallSink.CallEnded end =
        new CallSink.CallEnded(
            callId,
            turn.key(),
            engineStatus,
            verdict,
            firstByteAt,
            means.clock().instant(),
            received.bytes(),
            guess
                ? OptionalLong.of(AnthropicTokens.ofText(requestLength))
                : progress.usage().promptTokens(),
            guess
                ? OptionalLong.of(progress.completionTokensEstimated())
                : progress.usage().completionTokens(),
            progress.usage().reasoningTokens(),
            progress.usage().cachedTokens(),
            progress.toolCalls(),
            progress.finishReason(),
            Optional.ofNullable(error),
            retries,
            sentAt,
            requestHash,
            received.hash(),
            guess,
            capture.decide(callId, sentAt.isPresent(), verdict.equals("ok")));
    turn.add(end);
    capture.end(end);
    if (!started) {
      return;
    }
    try {
      means.sink().ended(end);
    } catch (RuntimeException notRecorded) {
      LOG.log(System.Logger.Level.ERROR, "the end of call " + callId + " is lost", notRecorded);
    }
  }
}
