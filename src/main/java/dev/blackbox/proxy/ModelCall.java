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
import dev.blackbox.wire.MalformedJsonException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One model call that was let in, from there to its record. Whatever happens, {@link #run} tells
 * the sink of its end exactly once.
 */
final class ModelCall {

  /** What a call needs of the proxy. */
  record Means(
      Desk desk,
      Upstream upstream,
      ProxyConfig config,
      RetryRule retryRule,
      CallSink sink,
      CallCaptures captures,
      InstantSource clock) {}

  /** Makes the request for the engine, once the call may go: a pause may have changed a version. */
  @FunctionalInterface
  interface Outgoing {
    UpstreamRequest request(UpstreamDeadlines deadlines);
  }

  private final Means means;
  private final OpenTurn turn;
  private final KnownCall known;
  private final CallRecord record;
  private final Speech speech;
  private final Visit visit;
  private final AgentAnswer answer;
  private final LifeSigns signs;

  /** Whether something of the engine's answer was taken for the agent, so that it stands. */
  private boolean answering;

  private boolean lowered;

  ModelCall(
      Means means,
      OpenTurn turn,
      KnownCall known,
      CallRecord record,
      Speech speech,
      Visit visit,
      AgentAnswer answer) {
    this.means = means;
    this.turn = turn;
    this.known = known;
    this.record = record;
    this.speech = speech;
    this.visit = visit;
    this.answer = answer;
    this.signs = new LifeSigns(speech, answer, means.config().keepAlive());
    answer.recordOn(known.tape());
  }

  /**
   * Makes the call. Throws what closes the agent's connection, if its answer is not whole.
   *
   * @param outgoing is asked for each attempt
   */
  void run(Outgoing outgoing, long requestBytes) {
    try {
      if (record.start(requestBytes)) {
        converse(outgoing);
      } else {
        answer.whole(Refusal.NOT_RECORDED.reply(speech.dialect()));
      }
    } catch (CallFailure failure) {
      tellOf(failure);
    } catch (VisitEndedException ended) {
      breakOff(ended.ending());
    } finally {
      finish();
    }
  }

  ChatProgress progress() {
    return record.progress();
  }

  Speech speech() {
    return speech;
  }

  AgentAnswer answer() {
    return answer;
  }

  /** What came of the answer's body. */
  ReceivedBytes received() {
    return record.received();
  }

  private void converse(Outgoing outgoing) throws CallFailure, VisitEndedException {
    means.desk().pass(visit, turn, signs);
    long started = System.nanoTime();
    while (true) {
      Duration left = means.config().totalTimeout().minusNanos(System.nanoTime() - started);
      try {
        UpstreamRequest request = outgoing.request(deadlines(left));
        record.sent(request.body());
        attempt(request);
        record.verdict("ok");
        turn.succeeded();
        return;
      } catch (CallFailure failure) {
        Duration delay = delayBeforeRetry(failure, left).orElseThrow(() -> failure);
        record.retried();
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
    return means
        .retryRule()
        .delay(failure, record.retries())
        .filter(delay -> delay.compareTo(left) < 0);
  }

  private void attempt(UpstreamRequest outgoing) throws CallFailure, VisitEndedException {
    try (UpstreamCall engine = visit.engage(means.upstream().begin(outgoing))) {
      record.hashRequest();
      UpstreamHead head = awaitHead(engine);
      record.answered(head.status());
      if (speech.stream() && head.isSuccess() && isEventStream(head)) {
        new StreamRelay(this, engine, head, means.config()).run();
      } else {
        relayWhole(engine, head);
      }
    } catch (UpstreamException failure) {
      visit.throwIfEnded();
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
    record.received().add(body, body.length);
    if (head.status() >= 400) {
      throw CallFailure.ofAnswer(head, body, means.clock().instant());
    }
    if (!head.isSuccess()) {
      throw CallFailure.malformed(
          "the engine answered with HTTP "
              + head.status()
              + ", which is no answer to a model call");
    }
    understand(body);
    answering = true;
    answer.whole(speech.whole(head, body, progress()));
  }

  private void understand(byte[] body) throws CallFailure {
    try {
      progress().answer(body);
    } catch (MalformedJsonException malformed) {
      throw CallFailure.malformed(
          "the engine's answer is no chat completion: " + malformed.getMessage());
    }
    Map<String, @Nullable Object> frame = progress().error();
    if (frame != null) {
      throw CallFailure.ofFrame(frame);
    }
    if (speech.stream()) {
      throw CallFailure.malformed("the engine answered a streaming call with a plain answer");
    }
    if (!progress().finished(speech.choices())) {
      throw CallFailure.truncated("the engine's answer has no finish reason");
    }
  }

  private void tellOf(CallFailure failure) {
    record.failed(failure);
    // Before the agent hears of it: it may end its turn on it.
    turn.met(failure.turnVerdict(record.engineStatus()));
    try {
      if (!(failure.meaning() instanceof EngineError.Invalidated && QuietEnd.say(speech, answer))) {
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
        boolean whole = progress().finished(speech.choices());
        record.verdict(whole ? "ok" : "agent_gone");
        if (whole) {
          turn.succeeded();
        }
        throw AgentAnswer.cut();
      }
      case TURN_CLOSED -> {
        record.verdict("turn_closed");
        if (answer.begun() && !answer.isStream()) {
          // It was being sent as a whole, and there is no place for another word.
          throw AgentAnswer.cut();
        }
        try {
          tell(CallFailure.turnClosed());
        } catch (VisitEndedException _) {
          throw AgentAnswer.cut();
        }
      }
    }
  }

  private void finish() {
    try {
      record.end();
    } finally {
      known.tape().finish(record.verdict());
      turn.leave(visit);
    }
  }
}
