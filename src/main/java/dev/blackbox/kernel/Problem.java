package dev.blackbox.kernel;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The one failure that may speak to a caller: a stable code, a sentence that says what was wrong
 * with which value and what to do, and details. Anything else that is thrown is a bug and is
 * answered as {@code internal_error} without its text.
 *
 * <p>Details hold only JSON-like values: String, Number, Boolean, List, Map and null.
 */
public final class Problem extends RuntimeException {

  private final ErrorCode code;
  private final transient Map<String, @Nullable Object> details;

  public Problem(
      ErrorCode code,
      String message,
      Map<String, ? extends @Nullable Object> details,
      @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
    this.details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
  }

  public static Problem of(
      ErrorCode code, String message, Map<String, ? extends @Nullable Object> details) {
    return new Problem(code, message, details, null);
  }

  public static Problem badRequest(
      String message, Map<String, ? extends @Nullable Object> details) {
    return of(ErrorCode.REQUEST_ERROR, message, details);
  }

  public static Problem conflict(String message, Map<String, ? extends @Nullable Object> details) {
    return of(ErrorCode.CONFLICT, message, details);
  }

  public static Problem notFound(String message, Map<String, ? extends @Nullable Object> details) {
    return of(ErrorCode.NOT_FOUND, message, details);
  }

  public static Problem unavailable(
      String message, Map<String, ? extends @Nullable Object> details) {
    return of(ErrorCode.SERVICE_UNAVAILABLE, message, details);
  }

  public ErrorCode code() {
    return code;
  }

  public String text() {
    String message = getMessage();
    return message == null ? code.wireName() : message;
  }

  public Map<String, @Nullable Object> details() {
    return details;
  }
}
