package dev.blackbox.http;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What goes out: always JSON, and always with the header {@code x-request-id}. */
sealed interface Answer {

  int status();

  /**
   * A body that is small enough to hold.
   *
   * @param named whether the body begins with the request id, as all but two of the reference's do
   */
  record Whole(int status, Map<String, ? extends @Nullable Object> fields, boolean named)
      implements Answer {}

  /** A body of any size, made while it is sent; status 200. */
  record Streamed(Writing writing) implements Answer {
    @Override
    public int status() {
      return 200;
    }
  }

  /** Writes a JSON object that begins with the request id. */
  interface Writing {
    void writeTo(OutputStream out, String requestId) throws IOException;
  }

  static Answer ok(Map<String, ? extends @Nullable Object> fields) {
    return new Whole(200, fields, true);
  }

  static Answer of(int status, Map<String, ? extends @Nullable Object> fields) {
    return new Whole(status, fields, true);
  }

  static Answer unnamed(Map<String, ? extends @Nullable Object> fields) {
    return new Whole(200, fields, false);
  }

  static Answer refusal(Problem problem) {
    return refusal(problem, problem.code().httpStatus());
  }

  /** As {@link #refusal(Problem)}, under a status that is more exact than the code's own. */
  static Answer refusal(Problem problem, int status) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("error", problem.code().wireName());
    fields.put("message", problem.text());
    fields.put("details", problem.details());
    return of(status, fields);
  }

  /** For a bug of ours, whose text is for the log only. */
  static Answer bug(String requestId) {
    return refusal(
        Problem.of(
            ErrorCode.INTERNAL_ERROR,
            "Internal error; the server's log has the reason under " + requestId + ".",
            Map.of()));
  }
}
