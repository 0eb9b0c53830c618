package dev.blackbox.proxy;

import dev.blackbox.translate.AgentFailure;
import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.Dialect;
import dev.blackbox.translate.DialectErrors;
import dev.blackbox.translate.ErrorClass;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

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
      "This proxy serves POST to paths that end with /chat/completions, /messages,"
          + " /messages/count_tokens or /responses, and GET to those that end with /models or"
          + " /models/ and a model's id."),
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

  String message() {
    return message;
  }

  /** What an agent of this dialect is told. */
  Reply reply(Dialect dialect) {
    if (dialect == Dialect.CHAT) {
      return chatReply();
    }
    return Reply.of(
        DialectErrors.answer(dialect, AgentFailure.of(errorClass(), message), status == 503));
  }

  /** The turn's step budget is used up. */
  static Reply overBudget(Dialect dialect, int stepsMax) {
    if (dialect == Dialect.CHAT) {
      Map<String, String> headers = new LinkedHashMap<>(AgentAnswer.JSON);
      headers.put("x-should-retry", "false");
      return new Reply(429, headers, ChatDialect.stepsExceeded(stepsMax));
    }
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    details.put("max_steps", stepsMax);
    details.put("attempted_step", stepsMax);
    AgentFailure told =
        new AgentFailure(
            ErrorClass.STEP_BUDGET,
            "Turn exceeded max_steps.",
            details,
            OptionalInt.empty(),
            OptionalLong.empty());
    return Reply.of(DialectErrors.answer(dialect, told, false));
  }

  Reply chatReply() {
    Map<String, String> headers = new LinkedHashMap<>(AgentAnswer.JSON);
    if (status == 503) {
      headers.put("retry-after", "1");
    }
    return new Reply(status, headers, ChatDialect.error(type, code, message));
  }

  byte[] chatEvent() {
    return ChatDialect.errorEvent(type, code, message);
  }

  private ErrorClass errorClass() {
    return switch (this) {
      case BAD_KEY -> ErrorClass.AUTHENTICATION;
      case NO_TURN, TURN_CLOSED -> ErrorClass.NO_OPEN_TURN;
      case UNKNOWN_ROUTE, TOO_LARGE -> ErrorClass.BAD_REQUEST;
      case NOT_BOUND, BUSY, NOT_RECORDED -> ErrorClass.OVERLOAD;
    };
  }
}
