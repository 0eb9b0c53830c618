package dev.blackbox.proxy;

import dev.blackbox.translate.EngineError;
import dev.blackbox.translate.ErrorClass;
import dev.blackbox.upstream.Upstream;
import dev.blackbox.upstream.UpstreamCall;
import dev.blackbox.upstream.UpstreamDeadlines;
import dev.blackbox.upstream.UpstreamException;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.upstream.UpstreamRequest;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.MalformedJsonException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One model call that was let in, from there to its record. Whatever happens, {@link #run} tells
 * the sink of its end exactly once.
 */
final class ModelCall {

  private static final System.Logger LOG = System.getLogger(ModelCall.class.getName());

  /** What a call needs of the proxy. */
  record Means(
      Desk desk,
      Upstream upstream,
      ProxyConfig config,
      RetryRule retryRule,
      CallSink sink,
      InstantSource clock) {}

  /** Makes the request for the engine, once the call may go: a pause may have changed a version. */
  @FunctionalInterface
  interface Outgoing {
    UpstreamRequest request(UpstreamDeadlines deadlines);
  }

  private final Means means;
  private final OpenTurn turn;
  private final int step;
  private final Speech speech;
  private final String purpose;
  private final Visit visit;
  private final AgentAnswer answer;
  private final String callId = UUID.randomUUID().toString();
  private final LifeSigns signs;
  private ChatProgress progress = new ChatProgress();

  /** Whether something of the engine's answer was taken for the agent, so that it stands. */
  private boolean answering;

  private boolean lowered;
  private int retries;
  private Optional<Instant> sentAt = Optional.empty();
  private Optional<String> requestHash = Optional.empty();
  private final ReceivedBytes received = new ReceivedBytes();
  private int engineStatus;
  private String verdict = "internal_error";
  private Optional<Instant> firstByteAt = Optional.empty();
  private @Nullable String error;

  ModelCall(
      Means means,
      OpenTurn turn,
      int step,
      Speech speech,
      String purpose,
      Visit visit,
      AgentAnswer answer) {
    this.means = means;
    this.turn = turn;
    this.step = step;
    this.speech = speech;
    this.purpose = purpose;
    this.visit = visit;
    this.answer = answer;
    this.signs = new LifeSigns(speech, answer, means.config().keepAlive());
  }

  /**
   * Makes the call. Throws what closes the agent's connection, if its answer is not whole.
   *
   * @param outgoing is asked for each attempt
   */
  void run(Outgoing outgoing, long requestBytes) {
    boolean started = false;
    try {
      started = start(requestBytes);
      if (started) {
        converse(outgoing);
      } else {
        answer.whole(Refusal.NOT_RECORDED.reply(speech.dialect()));
      }
    } catch (CallFailure failure) {
      tellOf(failure);
    } catch (VisitEndedException ended) {
      breakOff(ended.ending());
    } finally {
      finish(started);
    }
  }

  /** A call that cannot be recorded is not made: false then. */
  private boolean start(long requestBytes) {
    CallSink.CallStarted started =
        new CallSink.CallStarted(
            callId,
            turn.key(),
            step,
            Route.nameOf(speech.dialect()),
            speech.stream(),
            speech.model(),
            requestBytes,
            means.clock().instant(),
            purpose);
    try {
      means.sink().started(started);
      return true;
    } catch (RuntimeException notRecorded) {
      LOG.log(System.Logger.Level.ERROR, "a model call cannot be recorded", notRecorded);
      return false;
    }
  }

  ChatProgress progress() {
    return progress;
  }

  Speech speech() {
    return speech;
  }

  AgentAnswer answer() {
    return answer;
  }

  /** What came of the answer's body. */
  ReceivedBytes received() {
    return received;
  }

  private void converse(Outgoing outgoing) throws CallFailure, VisitEndedException {
    means.desk().pass(visit, turn, signs);
    long started = System.nanoTime();
    while (true) {
      Duration left = means.config().totalTimeout().minusNanos(System.nanoTime() - started);
      try {
        UpstreamRequest request = outgoing.request(deadlines(left));
        byte[] body = request.body();
        requestHash = body == null ? Optional.empty() : Optional.of(Fingerprints.sha256Hex(body));
        sentAt = Optional.of(means.clock().instant());
        attempt(request);
        verdict = "ok";
        turn.succeeded();
        return;
      } catch (CallFailure failure) {
        Duration delay = delayBeforeRetry(failure, left).orElseThrow(() -> failure);
        retries++;
        progress = new ChatProgress();
        means.desk().wait(visit, signs, delay);
        means.desk().pass(visit, turn, signs);
      }
    }
  }

  private UpstreamDeadlines deadlines(Duration left) {
    return new UpstreamDeadlines(
        means.config().firstByteTimeout(),
        means.config().idleTimeout(),
        Optional.of(left.isNegative() ? Duration.ZERO : left));
  }

  /** Empty if the failure stands. */
  private Optional<Duration> delayBeforeRetry(CallFailure failure, Duration left) {
    if (answering) {
      return Optional.empty();
    }
    if (failure.told().errorClass() == ErrorClass.OUTPUT_TOO_LONG
        && failure.told().maxTokensAllowed().isPresent()
        && !lowered) {
      lowered = true;
      speech.lowerMaxTokens(failure.told().maxTokensAllowed().getAsLong());
      return Optional.of(Duration.ZERO);
    }
    return means.retryRule().delay(failure, retries).filter(delay -> delay.compareTo(left) < 0);
  }

  private void attempt(UpstreamRequest outgoing) throws CallFailure, VisitEndedException {
    try (UpstreamCall engine = visit.engage(means.upstream().begin(outgoing))) {
      engineStatus = 0;
      received.reset();
      UpstreamHead head = awaitHead(engine);
      engineStatus = head.status();
      firstByteAt = Optional.of(means.clock().instant());
      if (speech.stream() && head.isSuccess() && isEventStream(head)) {
        new StreamRelay(this, engine, head, means.config().responseBytesMax()).run();
      } else {
        relayWhole(engine, head);
      }
    } catch (UpstreamException failure) {
      throwIfEnded();
      throw CallFailure.of(failure);
    }
  }

  private UpstreamHead awaitHead(UpstreamCall engine)
      throws UpstreamException, VisitEndedException {
    Optional<UpstreamHead> head = engine.head(signs.patience());
    while (head.isEmpty()) {
      signs.give();
      head = engine.head(signs.patience());
    }
    return head.get();
  }

  /** As the engine's call reads; gives the agent signs of life meanwhile. */
  int read(UpstreamCall engine, byte[] into) throws UpstreamException, VisitEndedException {
    int length = engine.read(into, signs.patience());
    while (length == 0) {
      signs.give();
      length = engine.read(into, signs.patience());
    }
    return length;
  }

  /** Not longer than the engine may be silent at all. */
  Duration bounded(Duration time) {
    Duration idle = means.config().idleTimeout();
    return time.compareTo(idle) < 0 ? time : idle;
  }

  /** From now on the engine's answer stands, whatever becomes of it. */
  void answering() {
    answering = true;
  }

  private void throwIfEnded() throws VisitEndedException {
    Optional<Visit.Ending> ending = visit.ending();
    if (ending.isPresent()) {
      throw new VisitEndedException(ending.get());
    }
  }

  private static boolean isEventStream(UpstreamHead head) {
    return head.header("content-type")
        .orElse("")
        .strip()
        .toLowerCase(Locale.ROOT)
        .startsWith("text/event-stream");
  }

  private void relayWhole(UpstreamCall engine, UpstreamHead head)
      throws UpstreamException, CallFailure, VisitEndedException {
    byte[] body = engine.readAll(means.config().responseBytesMax());
    received.add(body, body.length);
    if (head.status() >= 400) {
      throw CallFailure.ofAnswer(head, body);
    }
    if (!head.isSuccess()) {
      throw CallFailure.malformed(
          "the engine answered with HTTP "
              + head.status()
              + ", which is no answer to a model call");
    }
    understand(body);
    answering = true;
    answer.whole(speech.whole(head, body));
  }

  private void understand(byte[] body) throws CallFailure {
    try {
      progress.answer(body);
    } catch (MalformedJsonException malformed) {
      throw CallFailure.malformed(
          "the engine's answer is no chat completion: " + malformed.getMessage());
    }
    Map<String, @Nullable Object> frame = progress.error();
    if (frame != null) {
      throw CallFailure.ofFrame(frame);
    }
    if (speech.stream()) {
      throw CallFailure.malformed("the engine answered a streaming call with a plain answer");
    }
    if (!progress.finished(speech.choices())) {
      throw CallFailure.truncated("the engine's answer has no finish reason");
    }
  }

  private void tellOf(CallFailure failure) {
    verdict = failure.callVerdict();
    error = failure.meaning().message();
    // Before the agent hears of it: it may end its turn on it.
    turn.met(failure.turnVerdict(engineStatus));
    try {
      if (!(failure.meaning() instanceof EngineError.Invalidated
          && QuietEnd.say(speech, answer, progress.toolCalls()))) {
        tell(failure);
      }
    } catch (VisitEndedException _) {
      throw AgentAnswer.cut();
    }
  }

  private void tell(CallFailure failure) throws VisitEndedException {
    if (!answer.begun()) {
      answer.whole(speech.failure(failure));
      return;
    }
    answer.write(speech.events().failure(failure));
    if (!speech.events().failureEndsTheAnswer()) {
      throw AgentAnswer.cut();
    }
    answer.end();
  }

  private void breakOff(Visit.Ending ending) {
    switch (ending) {
      case AGENT_GONE -> {
        // An agent that leaves after the end of the answer has all of it.
        verdict = progress.finished(speech.choices()) ? "ok" : "agent_gone";
        if (verdict.equals("ok")) {
          turn.succeeded();
        }
        throw AgentAnswer.cut();
      }
      case TURN_CLOSED -> {
        verdict = "turn_closed";
        try {
          tell(CallFailure.turnClosed());
        } catch (VisitEndedException _) {
          throw AgentAnswer.cut();
        }
      }
    }
  }

  private void finish(boolean started) {
    CallSink.CallEnded ended =
        new CallSink.CallEnded(
            callId,
            turn.key(),
            engineStatus,
            verdict,
            firstByteAt,
            means.clock().instant(),
            received.bytes(),
            progress.usage().promptTokens(),
            progress.usage().completionTokens(),
            progress.usage().reasoningTokens(),
            progress.usage().cachedTokens(),
            progress.toolCalls(),
            progress.finishReason(),
            Optional.ofNullable(error),
            retries,
            sentAt,
            requestHash,
            received.hash());
    turn.add(ended);
    try {
      if (started) {
        means.sink().ended(ended);
      }
    } catch (RuntimeException notRecorded) {
      LOG.log(System.Logger.Level.ERROR, "the end of call " + callId + " is lost", notRecorded);
    } finally {
      turn.leave(visit);
    }
  }
}
