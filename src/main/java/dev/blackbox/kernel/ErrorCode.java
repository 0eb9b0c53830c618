package dev.blackbox.kernel;

import java.util.Locale;

/**
 * The stable codes of the HTTP API, each with the status that goes with it. The wire name is the
 * lower-case constant name. Source: the reference server's rejection catalogue; additions of ours
 * are marked.
 */
public enum ErrorCode {
  REQUEST_ERROR(400),
  /** Ours: the API token is missing or wrong. */
  UNAUTHORIZED(401),
  /** Ours: a web page of somebody else asks. */
  FORBIDDEN(403),
  NOT_FOUND(404),
  METHOD_NOT_ALLOWED(405),
  CONFLICT(409),
  BOUND_SESSION_MISMATCH(409),
  ABORTED(409),
  CONTEXT_OVERFLOW(413),
  /** Ours: it was there, and is no longer kept. */
  GONE(410),
  /** Ours: the reference takes bodies of any size. */
  PAYLOAD_TOO_LARGE(413),
  /** Ours: the request names a host that this server is not. */
  MISDIRECTED_REQUEST(421),
  TOO_MANY_REQUESTS(429),
  MAX_STEPS_EXCEEDED(429),
  CANCELLED(499),
  INTERNAL_ERROR(500),
  BACKEND_ERROR(502),
  /** Ours: the turn was interrupted by a crash of the server, and what it did is unknown. */
  SERVER_RESTARTED(502),
  SERVICE_UNAVAILABLE(503),
  PAUSE_TIMEOUT(503),
  BACKEND_TIMEOUT(504),
  SERVER_SHUTDOWN(504);

  private final int httpStatus;

  ErrorCode(int httpStatus) {
    this.httpStatus = httpStatus;
  }

  public int httpStatus() {
    return httpStatus;
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
