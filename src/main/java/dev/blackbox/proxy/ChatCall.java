package dev.blackbox.proxy;

import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.EngineError;
import dev.blackbox.translate.EngineErrors;
import dev.blackbox.upstream.Upstream;
import dev.blackbox.upstream.UpstreamCall;
import dev.blackbox.upstream.UpstreamException;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.upstream.UpstreamRequest;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.ChatRequest;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One model call that was let in, from there to its record. Whatever happens, {@link #run} tells
 * the sink of its end exactly once.
 */
final class ChatCall {

  private static final System.Logger LOG = System.getLogger(ChatCall.class.getName());

  /** What a call needs of the proxy. */
  record Means(
      Desk desk, Upstream upstream, ProxyConfig config, CallSink sink, InstantSource clock) {}

  private final Means means;
  private final OpenTurn turn;
  private final int step;
  private final ChatRequest request;
  private final Visit visit;
  private final AgentAnswer answer;
  private final String callId = UUID.randomUUID().toString();
  private final ChatProgress progress = new ChatProgress();

  private int engineStatus;
  private String verdict = "internal_error";
  private Optional<Instant> firstByteAt = Optional.empty();
  private long responseBytes;
  private @Nullable String error;

  ChatCall(
      Means means, OpenTurn turn, int step, ChatRequest request, Visit visit, AgentAnswer answer) {
    this.means = means;
    this.turn = turn;
    this.step = step;
    this.request = request;
    this.visit = visit;
    this.answer = answer;
  }

  /**
   * Makes the call. Throws what closes the agent's connection, if its answer is not whole.
   *
   * @param outgoing is asked once the call may go, since a pause may have changed the version
   */
  void run(Supplier<UpstreamRequest> outgoing, long requestBytes) {
    boolean started = false;
    try {
      started = start(requestBytes);
      if (started) {
        converse(outgoing);
      } else {
        Refusal refusal = Refusal.NOT_RECORDED;
        answer.whole(refusal.status(), refusal.headers(), refusal.body());
      }
    } catch (EngineFailure failure) {
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
            "chat",
            request.stream(),
            request.model(),
            requestBytes,
            means.clock().instant());
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

  boolean stream() {
    return request.stream();
  }

  int choices() {
    return request.choices();
  }

  AgentAnswer answer() {
    return answer;
  }

  /** Bytes of the answer's body came. */
  void received(int bytes) {
    responseBytes += bytes;
  }

  private void converse(Supplier<UpstreamRequest> outgoing)
      throws EngineFailure, VisitEndedException {
    means.desk().pass(visit, turn);
    try (UpstreamCall engine = visit.engage(means.upstream().begin(outgoing.get()))) {
      UpstreamHead head = engine.head();
      engineStatus = head.status();
      firstByteAt = Optional.of(means.clock().instant());
      if (request.stream() && head.isSuccess() && isEventStream(head)) {
        new StreamRelay(this, engine, head, means.config().responseBytesMax()).run();
      } else {
        relayWhole(engine, head);
      }
      verdict = "ok";
      turn.succeeded();
    } catch (UpstreamException failure) {
      throwIfEnded();
      throw EngineFailure.of(failure);
    }
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
      throws UpstreamException, EngineFailure, VisitEndedException {
    byte[] body = engine.readAll(means.config().responseBytesMax());
    received(body.length);
    if (head.status() >= 400) {
      throw new EngineFailure(
          "upstream_error",
          EngineErrors.ofAnswer(head.status(), body),
          head.status(),
          EngineHeaders.forAgent(head),
          body,
          new byte[0]);
    }
    if (!head.isSuccess()) {
      throw EngineFailure.malformed(
          "the engine answered with HTTP "
              + head.status()
              + ", which is no answer to a model call");
    }
    understand(body);
    answer.whole(head.status(), EngineHeaders.forAgent(head), body);
  }

  private void understand(byte[] body) throws EngineFailure {
    try {
      progress.answer(body);
    } catch (MalformedJsonException malformed) {
      throw EngineFailure.malformed(
          "the engine's answer is no chat completion: " + malformed.getMessage());
    }
    Map<String, @Nullable Object> frame = progress.error();
    if (frame != null) {
      throw failureOf(frame, body);
    }
    if (request.stream()) {
      throw EngineFailure.malformed("the engine answered a streaming call with a plain answer");
    }
  }

  /** The failure that an error object in a successful answer stands for. */
  EngineFailure failureOf(Map<String, @Nullable Object> frame, byte[] event) {
    int status = EngineErrors.statusOf(frame).orElse(502);
    // The recording proxy's late errors name their status; then the inner object is what it would
    // have sent early. Others keep their OpenAI shape.
    Object told =
        EngineErrors.statusOf(frame).isPresent() && frame.get("error") instanceof Map<?, ?> inner
            ? inner
            : frame;
    return new EngineFailure(
        "upstream_error",
        EngineErrors.ofFrame(frame),
        status,
        AgentAnswer.JSON,
        Json.writeBytes(told),
        event);
  }

  private void tellOf(EngineFailure failure) {
    verdict = failure.callVerdict();
    error = failure.meaning().message();
    // Before the agent hears of it: it may end its turn on it.
    turn.met(failure.turnVerdict(engineStatus));
    try {
      if (failure.meaning() instanceof EngineError.Invalidated) {
        endQuietly(failure);
      } else if (answer.begun()) {
        answer.write(failure.event());
        throw AgentAnswer.cut();
      } else {
        answer.whole(failure.agentStatus(), failure.headers(), failure.body());
      }
    } catch (VisitEndedException _) {
      throw AgentAnswer.cut();
    }
  }

  /** The agent is to stop without a fuss: nobody wants what it would do next. */
  private void endQuietly(EngineFailure failure) throws VisitEndedException {
    if (!answer.begun() && !request.stream()) {
      answer.whole(200, AgentAnswer.JSON, ChatDialect.emptyAnswer());
      return;
    }
    if (!answer.begun()) {
      answer.begin(200, StreamRelay.EVENT_STREAM);
    } else if (progress.toolCalls() > 0) {
      // A good end would make the agent run half a tool call.
      answer.write(failure.event());
      throw AgentAnswer.cut();
    }
    answer.write(ChatDialect.emptyStream());
    answer.end();
  }

  private void breakOff(Visit.Ending ending) {
    switch (ending) {
      case AGENT_GONE -> {
        // An agent that leaves after the end of the answer has all of it.
        verdict = progress.finished(request.choices()) ? "ok" : "agent_gone";
        if (verdict.equals("ok")) {
          turn.succeeded();
        }
        throw AgentAnswer.cut();
      }
      case TURN_CLOSED -> {
        verdict = "turn_closed";
        Refusal refusal = Refusal.TURN_CLOSED;
        try {
          if (answer.begun()) {
            answer.write(refusal.event());
            throw AgentAnswer.cut();
          }
          answer.whole(refusal.status(), refusal.headers(), refusal.body());
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
            responseBytes,
            progress.usage().promptTokens(),
            progress.usage().completionTokens(),
            progress.usage().reasoningTokens(),
            progress.usage().cachedTokens(),
            progress.toolCalls(),
            progress.finishReason(),
            Optional.ofNullable(error));
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
