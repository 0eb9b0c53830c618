package dev.blackbox.translate;

import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A failure that an agent is told of.
 *
 * @param message a sentence for people, without prompts and keys
 * @param details numbers as the source gave them, possibly none
 * @param retryAfterSeconds when to come again, if that is known
 * @param maxTokensAllowed for {@link ErrorClass#OUTPUT_TOO_LONG}: the most that can be asked for
 */
public record AgentFailure(
    ErrorClass errorClass,
    String message,
    Map<String, @Nullable Object> details,
    OptionalInt retryAfterSeconds,
    OptionalLong maxTokensAllowed) {

  public static AgentFailure of(ErrorClass errorClass, String message) {
    return new AgentFailure(
        errorClass, message, Map.of(), OptionalInt.empty(), OptionalLong.empty());
  }

  /** The failure, with the time that the engine said to wait. */
  public AgentFailure retryAfter(int seconds) {
    return new AgentFailure(
        errorClass, message, details, OptionalInt.of(seconds), maxTokensAllowed);
  }
}
