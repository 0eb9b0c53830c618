package dev.blackbox.proxy;

import dev.blackbox.translate.ChatDialect;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Why the door turns a request away, and what it says then. Statuses are chosen by what agents do
 * with them: a 400 {@code invalid_request_error} ends their turn at once, while they retry 409, 429
 * and 5xx for a minute and more.
 */
enum Refusal {
  UNKNOWN_ROUTE(
      "unknown_route",
      404,
      "invalid_request_error",
      "unknown_route",
      "This proxy serves POST <api path>/chat/completions and GET <api path>/models only."),
  NOT_BOUND(
      "not_bound",
      503,
      "server_error",
      "not_bound",
      "No rollout is registered, so there is no engine to ask."),
  BAD_KEY(
      "bad_key",
      401,
      "authentication_error",
      "invalid_api_key",
      "The API key is not the one of the present rollout."),
  NO_TURN(
      "no_turn",
      400,
      "invalid_request_error",
      "no_open_turn",
      "No turn is open, so this model call belongs to nothing."),
  TURN_CLOSED(
      "no_turn",
      400,
      "invalid_request_error",
      "no_open_turn",
      "The turn of this model call was closed."),
  TOO_LARGE(
      "too_large",
      413,
      "invalid_request_error",
      "request_too_large",
      "The request body is larger than this proxy takes."),
  BUSY(
      "busy",
      503,
      "server_error",
      "too_many_calls",
      "Too many calls are under way at once; try again later."),
  NOT_RECORDED(
      "busy",
      503,
      "server_error",
      "not_recorded",
      "The call cannot be recorded at the moment, so it is not made.");

  private final String reason;
  private final int status;
  private final String type;
  private final String code;
  private final String message;

  Refusal(String reason, int status, String type, String code, String message) {
    this.reason = reason;
    this.status = status;
    this.type = type;
    this.code = code;
    this.message = message;
  }

  /** As {@link CallSink.CallRefused} lists them. */
  String reason() {
    return reason;
  }

  int status() {
    return status;
  }

  Map<String, String> headers() {
    Map<String, String> headers = new LinkedHashMap<>(AgentAnswer.JSON);
    if (status == 503) {
      headers.put("retry-after", "1");
    }
    return headers;
  }

  byte[] body() {
    return ChatDialect.error(type, code, message);
  }

  byte[] event() {
    return ChatDialect.errorEvent(type, code, message);
  }
}
