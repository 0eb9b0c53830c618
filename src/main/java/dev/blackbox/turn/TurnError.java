package dev.blackbox.turn;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why a settled turn has no answer, as it is stored and told: a stable code, a sentence, JSON-like
 * details (always with {@code session_id} and {@code turn_id}), and the HTTP status that a
 * synchronous caller gets.
 */
public record TurnError(ErrorCode code, String message, Map<String, @Nullable Object> details) {

  public TurnError {
    details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
  }

  public int httpStatus() {
    return code.httpStatus();
  }

  public Problem toProblem() {
    return Problem.of(code, message, details);
  }
}
