package dev.blackbox.proxy;

import dev.blackbox.translate.AgentFailure;
import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.EngineError;
import dev.blackbox.translate.EngineErrors;
import dev.blackbox.translate.ErrorClass;
import dev.blackbox.upstream.UpstreamException;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A model call that did not go well, with all that is said about it: to the ledger, to the turn and
 * to the agent, whose answer may have been begun or not.
 */
final class CallFailure extends Exception {

  private final String callVerdict;
  private final EngineError meaning;
  private final AgentFailure told;
  private final Reply chatReply;
  private final byte[] chatEvent;
  private boolean mayPass;
  private Optional<Duration> retryAfter = Optional.empty();

  /**
   * @param callVerdict as {@link CallSink.CallEnded} lists them
   * @param told what agents get whose dialect the engine does not speak
   * @param chatReply for an agent that speaks chat completions, whose answer was not begun
   * @param chatEvent for such an agent in the middle of a stream
   */
  private CallFailure(
      String callVerdict,
      EngineError meaning,
      AgentFailure told,
      Reply chatReply,
      byte[] chatEvent) {
    super(meaning.message(), null, false, false);
    this.callVerdict = callVerdict;
    this.meaning = meaning;
    this.told = told;
    this.chatReply = chatReply;
    this.chatEvent = chatEvent;
  }

  /**
   * The engine's answer has an error status.
   *
   * @param now when it came
   */
  static CallFailure ofAnswer(UpstreamHead head, byte[] body, Instant now) {
    AgentFailure told = EngineErrors.failureOf(head.status(), body);
    CallFailure failure =
        new CallFailure(
            "upstream_error",
            EngineErrors.ofAnswer(head.status(), body),
            told,
            new Reply(head.status(), EngineHeaders.forAgent(head), body),
            ChatDialect.errorEvent("upstream_error", codeOf(told), told.message()));
    failure.mayPass = told.errorClass().isTransient();
    failure.retryAfter = RetryAfter.of(head, now);
    return failure;
  }

  /** For an error inside of a stream that has no event of the engine's own. */
  private static String codeOf(AgentFailure told) {
    return told.errorClass() == ErrorClass.CONTEXT_OVERFLOW
        ? "context_length_exceeded"
        : told.errorClass().name().toLowerCase(Locale.ROOT);
  }

  /**
   * An error object stands where an answer should be.
   *
   * @param event the whole event
   */
  static CallFailure ofFrame(Map<String, @Nullable Object> frame, byte[] event) {
    int status = EngineErrors.statusOf(frame).orElse(502);
    // The recording proxy's late errors name their status; then the inner object is what it would
    // have sent early. Others keep their OpenAI shape.
    Object inOneBody =
        EngineErrors.statusOf(frame).isPresent() && frame.get("error") instanceof Map<?, ?> inner
            ? inner
            : frame;
    AgentFailure told = EngineErrors.failureOf(frame);
    CallFailure failure =
        new CallFailure(
            "upstream_error",
            EngineErrors.ofFrame(frame),
            told,
            new Reply(status, AgentAnswer.JSON, Json.writeBytes(inOneBody)),
            event);
    failure.mayPass = EngineErrors.statusOf(frame).isPresent() && told.errorClass().isTransient();
    return failure;
  }

  /** As {@link #ofFrame(Map, byte[])}, for an error object that is no event. */
  static CallFailure ofFrame(Map<String, @Nullable Object> frame) {
    return ofFrame(frame, ChatDialect.event(frame));
  }

  /** A failure that we describe ourselves. */
  static CallFailure ours(
      String callVerdict, ErrorClass errorClass, int status, String code, String message) {
    return new CallFailure(
        callVerdict,
        new EngineError.Other(message),
        AgentFailure.of(errorClass, message),
        new Reply(status, AgentAnswer.JSON, ChatDialect.error("upstream_error", code, message)),
        ChatDialect.errorEvent("upstream_error", code, message));
  }

  private static CallFailure broken(String callVerdict, int status, String code, String message) {
    return ours(callVerdict, ErrorClass.TRANSPORT, status, code, message);
  }

  /** What came was not what an engine may answer. */
  static CallFailure malformed(String message) {
    return broken("upstream_error", 502, "upstream_malformed", message);
  }

  /** The answer ended before it was whole. */
  static CallFailure truncated(String message) {
    return broken("truncated", 502, "upstream_truncated", message);
  }

  static CallFailure of(UpstreamException failure) {
    CallFailure met =
        switch (failure.kind()) {
          case UNREACHABLE ->
              broken("upstream_unreachable", 502, "upstream_unreachable", failure.text());
          case TIMEOUT -> broken("timeout", 504, "upstream_timeout", failure.text());
          case BROKEN, CANCELLED -> truncated(failure.text());
          case TOO_LARGE -> malformed(failure.text());
        };
    met.mayPass =
        failure.kind() == UpstreamException.Kind.UNREACHABLE
            || failure.kind() == UpstreamException.Kind.BROKEN;
    return met;
  }

  /** The turn was closed while the call was under way; not the engine's fault. */
  static CallFailure turnClosed() {
    Refusal refusal = Refusal.TURN_CLOSED;
    return new CallFailure(
        "turn_closed",
        new EngineError.Other(refusal.message()),
        AgentFailure.of(ErrorClass.NO_OPEN_TURN, refusal.message()),
        refusal.chatReply(),
        refusal.chatEvent());
  }

  /** An earlier call of the turn has met this, so that this one is not made. */
  static CallFailure ofVoidTurn(Verdict.RolloutInvalidated why) {
    return new CallFailure(
        "rollout_invalidated",
        new EngineError.Invalidated(why.error(), why.message()),
        AgentFailure.of(ErrorClass.INVALIDATED, why.message()),
        new Reply(
            400,
            AgentAnswer.JSON,
            ChatDialect.error("invalid_request_error", why.error(), why.message())),
        new byte[0]);
  }

  /** The call's verdict; the meaning, where there is one, goes before. */
  String callVerdict() {
    return switch (meaning) {
      case EngineError.ContextOverflow _ -> "context_overflow";
      case EngineError.Invalidated _ -> "rollout_invalidated";
      case EngineError.Other _ -> callVerdict;
    };
  }

  EngineError meaning() {
    return meaning;
  }

  /** Whether another attempt may do better. */
  boolean mayPass() {
    return mayPass;
  }

  /** How long the engine asked to be left alone. */
  Optional<Duration> retryAfter() {
    return retryAfter;
  }

  AgentFailure told() {
    return told;
  }

  Reply chatReply() {
    return chatReply;
  }

  byte[] chatEvent() {
    return chatEvent;
  }

  /** What the turn remembers. */
  Verdict turnVerdict(int engineStatus) {
    return switch (meaning) {
      case EngineError.ContextOverflow(var message, var details) ->
          new Verdict.ContextOverflow(message, details);
      case EngineError.Invalidated(var error, var message) ->
          new Verdict.RolloutInvalidated(error, message);
      case EngineError.Other(var message) ->
          new Verdict.UpstreamFailed(
              engineStatus >= 200 && engineStatus < 400 ? chatReply.status() : engineStatus,
              message);
    };
  }
}
