package dev.blackbox.proxy;

import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.EngineError;
import dev.blackbox.upstream.UpstreamException;
import java.util.Map;

/**
 * A model call that did not go well, with all that is said about it: to the ledger, to the turn and
 * to the agent, whose answer may have been begun or not.
 */
final class EngineFailure extends Exception {

  private final String callVerdict;
  private final EngineError meaning;
  private final int agentStatus;
  private final Map<String, String> headers;
  private final byte[] body;
  private final byte[] event;

  /**
   * @param callVerdict as {@link CallSink.CallEnded} lists them
   * @param body for an agent whose answer was not begun, with {@code agentStatus}
   * @param event for an agent that is in the middle of a stream
   */
  EngineFailure(
      String callVerdict,
      EngineError meaning,
      int agentStatus,
      Map<String, String> headers,
      byte[] body,
      byte[] event) {
    super(meaning.message(), null, false, false);
    this.callVerdict = callVerdict;
    this.meaning = meaning;
    this.agentStatus = agentStatus;
    this.headers = headers;
    this.body = body;
    this.event = event;
  }

  /** A failure that we describe ourselves. */
  static EngineFailure ours(String callVerdict, int agentStatus, String code, String message) {
    return new EngineFailure(
        callVerdict,
        new EngineError.Other(message),
        agentStatus,
        AgentAnswer.JSON,
        ChatDialect.error("upstream_error", code, message),
        ChatDialect.errorEvent("upstream_error", code, message));
  }

  /** What came was not what an engine may answer. */
  static EngineFailure malformed(String message) {
    return ours("upstream_error", 502, "upstream_malformed", message);
  }

  /** The answer ended before it was whole. */
  static EngineFailure truncated(String message) {
    return ours("truncated", 502, "upstream_truncated", message);
  }

  static EngineFailure of(UpstreamException failure) {
    return switch (failure.kind()) {
      case UNREACHABLE -> ours("upstream_unreachable", 502, "upstream_unreachable", failure.text());
      case TIMEOUT -> ours("timeout", 504, "upstream_timeout", failure.text());
      case BROKEN, CANCELLED -> truncated(failure.text());
      case TOO_LARGE -> malformed(failure.text());
    };
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

  int agentStatus() {
    return agentStatus;
  }

  Map<String, String> headers() {
    return headers;
  }

  byte[] body() {
    return body;
  }

  byte[] event() {
    return event;
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
              engineStatus >= 200 && engineStatus < 400 ? agentStatus : engineStatus, message);
    };
  }
}
