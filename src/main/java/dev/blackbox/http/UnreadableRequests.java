package dev.blackbox.http;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.wire.Json;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answers what never becomes a request: a broken head, too large a body, another protocol. The
 * connection ends after it.
 */
final class UnreadableRequests implements DirectHandler {

  private static final int TOO_LARGE = 413;

  private final HttpConfig config;
  private final RequestIds ids;

  UnreadableRequests(HttpConfig config, RequestIds ids) {
    this.config = config;
    this.ids = ids;
  }

  @Override
  public TransportResponse handle(
      TransportRequest request,
      EventType eventType,
      Status status,
      ServerResponseHeaders headers,
      @Nullable String message) {
    WatchedConnection.current().refuseEarly();
    String requestId = ids.next();
    // What fails here as an "internal error" failed while the request was read, and nearly always
    // because the client went away; the dispatcher answers our own bugs.
    Status answered = eventType == EventType.INTERNAL_ERROR ? Status.BAD_REQUEST_400 : status;
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("request_id", requestId);
    body.putAll(
        ProblemDocument.fields(
            problem(answered.code(), message == null ? "no further reason is known" : message)));
    return TransportResponse.builder()
        .status(answered)
        .headers(headers)
        .header(HeaderNames.create("x-request-id"), requestId)
        .header(HeaderNames.CACHE_CONTROL, Dispatcher.NO_STORE)
        .header(HeaderNames.CONTENT_TYPE, "application/json")
        .header(HeaderValues.CONNECTION_CLOSE)
        .keepAlive(false)
        .entity(Json.writeBytes(body))
        .build();
  }

  /** Also for bodies that turn out to be unreadable after their head was fine. */
  Problem problem(int status, String message) {
    if (status == TOO_LARGE) {
      return Problem.of(
          ErrorCode.PAYLOAD_TOO_LARGE,
          "The request body is larger than " + config.bodyBytesMax() + " bytes.",
          Map.of("body_bytes_max", config.bodyBytesMax()));
    }
    return Problem.badRequest("The request cannot be read: " + message, Map.of());
  }
}
