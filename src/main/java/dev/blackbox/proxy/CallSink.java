package dev.blackbox.proxy;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.TurnKey;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/** Is told of every model call. Must not block: calls are on the critical path of an agent. */
public interface CallSink {

  void started(CallStarted call);

  void ended(CallEnded call);

  /** A call that was not passed on. */
  void refused(CallRefused call);

  /**
   * A call was accepted and counted.
   *
   * @param callId unique for ever
   * @param step from 0 within the turn
   * @param dialect {@code chat}, {@code anthropic} or {@code responses}
   * @param purpose {@code main}, or a side call that the agent marks as one: {@code subagent},
   *     {@code compaction}, {@code title}
   * @param resent if it is its agent's own retry, and no step of its own
   */
  record CallStarted(
      String callId,
      TurnKey turn,
      int step,
      String dialect,
      boolean stream,
      String model,
      long requestBytes,
      Instant at,
      String purpose,
      Optional<Resent> resent) {}

  /**
   * What a call is to an earlier one that its agent sent again.
   *
   * @param callId of the earlier call
   * @param as {@code joined}: told what that call is told, which still runs; {@code replayed}: told
   *     what it was told, since it went well; {@code again}: made again, since it did not, as the
   *     same step. The first two ask the engine nothing
   */
  record Resent(String callId, String as) {}

  /**
   * A call is over.
   *
   * @param status HTTP status of the engine's answer; 0 if there was none
   * @param verdict {@code ok}, {@code upstream_error}, {@code upstream_unreachable}, {@code
   *     truncated}, {@code timeout}, {@code agent_gone}, {@code context_overflow}, {@code
   *     rollout_invalidated}, {@code turn_closed} or {@code internal_error}
   * @param finishReason as the engine gave it
   * @param toolCalls number of tool calls in the answer
   * @param retries attempts after the first
   * @param sentAt when the last attempt was sent; empty if none was
   * @param requestHash SHA-256 of the body that the engine was sent at last, in hexadecimal digits
   * @param responseHash SHA-256 of the body that came from it, as far as it came
   * @param tokensEstimated whether the engine reported none, and prompt and completion tokens are a
   *     guess by length; such tokens count for no turn
   * @param capture what was decided about its bodies
   */
  record CallEnded(
      String callId,
      TurnKey turn,
      int status,
      String verdict,
      Optional<Instant> firstByteAt,
      Instant at,
      long responseBytes,
      OptionalLong promptTokens,
      OptionalLong completionTokens,
      OptionalLong reasoningTokens,
      OptionalLong cachedTokens,
      int toolCalls,
      Optional<String> finishReason,
      Optional<String> error,
      int retries,
      Optional<Instant> sentAt,
      Optional<String> requestHash,
      Optional<String> responseHash,
      boolean tokensEstimated,
      CaptureDecision capture) {}

  /**
   * A call was refused.
   *
   * @param reason {@code no_turn}, {@code bad_key}, {@code not_bound}, {@code max_steps_exceeded},
   *     {@code rollout_invalidated}, {@code unknown_route}, {@code bad_request}, {@code too_large}
   *     or {@code busy}
   * @param turn the turn that was open, if any
   */
  record CallRefused(
      String reason, String method, String path, Optional<TurnId> turn, Instant at) {}
}
