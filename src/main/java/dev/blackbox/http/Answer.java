package dev.blackbox.http;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What goes out: JSON unless it is nothing, and always with the header {@code x-request-id}. */
sealed interface Answer {

  int status();

  /** Headers beside those that every answer has. */
  Map<String, String> headers();

  /** The same with one more header. */
  Answer with(String header, String value);

  /**
   * A body that is small enough to hold.
   *
   * @param named whether the body begins with the request id, as all but two of the reference's do
   */
  record Whole(
      int status,
      Map<String, ? extends @Nullable Object> fields,
      boolean named,
      Map<String, String> headers)
      implements Answer {
    @Override
    public Whole with(String header, String value) {
      return new Whole(status, fields, named, more(headers, header, value));
    }
  }

  /** An error, in the shape that the client asked for. */
  record Refusal(int status, Problem problem, Map<String, String> headers) implements Answer {
    @Override
    public Refusal with(String header, String value) {
      return new Refusal(status, problem, more(headers, header, value));
    }
  }

  /** A text that is JSON already. */
  record Document(String json, Map<String, String> headers) implements Answer {
    @Override
    public int status() {
      return 200;
    }

    @Override
    public Document with(String header, String value) {
      return new Document(json, more(headers, header, value));
    }
  }

  /** The client has it already: status 304, no body. */
  record Unchanged(Map<String, String> headers) implements Answer {
    @Override
    public int status() {
      return 304;
    }

    @Override
    public Unchanged with(String header, String value) {
      return new Unchanged(more(headers, header, value));
    }
  }

  /** A body of any size, made while it is sent; status 200. */
  record Streamed(Writing writing, Map<String, String> headers) implements Answer {
    @Override
    public int status() {
      return 200;
    }

    @Override
    public Streamed with(String header, String value) {
      return new Streamed(writing, more(headers, header, value));
    }
  }

  /** Writes a JSON object that begins with the request id. */
  interface Writing {
    void writeTo(OutputStream out, String requestId) throws IOException;
  }

  static Whole ok(Map<String, ? extends @Nullable Object> fields) {
    return of(200, fields);
  }

  static Whole of(int status, Map<String, ? extends @Nullable Object> fields) {
    return new Whole(status, fields, true, Map.of());
  }

  static Whole unnamed(Map<String, ? extends @Nullable Object> fields) {
    return new Whole(200, fields, false, Map.of());
  }

  static Refusal refusal(Problem problem) {
    return refusal(problem, problem.code().httpStatus());
  }

  /** As {@link #refusal(Problem)}, under a status that is more exact than the code's own. */
  static Refusal refusal(Problem problem, int status) {
    return new Refusal(status, problem, Map.of());
  }

  /** For a bug of ours, whose text is for the log only. */
  static Refusal bug(String requestId) {
    return refusal(
        Problem.of(
            ErrorCode.INTERNAL_ERROR,
            "Internal error; the server's log has the reason under " + requestId + ".",
            Map.of()));
  }

  private static Map<String, String> more(
      Map<String, String> headers, String header, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(header, value);
    return more;
  }
}
