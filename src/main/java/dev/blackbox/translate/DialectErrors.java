package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How an agent is told of a failure: as an answer with a status, or as an event in the middle of a
 * stream. Statuses and codes are chosen by what today's agents do with them, which {@code
 * docs/dialects.md} lists: compact, stop, or come again. A verdict that is final never has a form
 * that an agent would retry.
 */
public final class DialectErrors {

  /** Claude Code gives up at once if it is to wait longer than a few minutes. */
  private static final String NEVER_AGAIN_SECONDS = "3600";

  private static final int RETRY_AFTER_SECONDS_DEFAULT = 1;

  private DialectErrors() {}

  /** An answer with a status. */
  public record Answer(
      int status, Map<String, String> headers, Map<String, @Nullable Object> tree) {

    /** The body. */
    public byte[] body() {
      return Json.writeBytes(tree);
    }
  }

  /** One row: the status, and the two words of the error object. */
  private record Row(int status, String type, String code) {}

  /**
   * The answer for an agent whose answer was not begun.
   *
   * @param agentMayRetry whether transient failures are told as such; if the proxy has retried
   *     enough itself, they are final too, since each retry of an agent costs a recorded step
   */
  public static Answer answer(Dialect dialect, AgentFailure failure, boolean agentMayRetry) {
    boolean last = failure.errorClass().isTransient() && !agentMayRetry;
    Row row = last ? finalRow(dialect, failure.errorClass()) : row(dialect, failure.errorClass());
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("content-type", "application/json");
    if (failure.errorClass().isTransient() && agentMayRetry) {
      int seconds = failure.retryAfterSeconds().orElse(RETRY_AFTER_SECONDS_DEFAULT);
      headers.put("retry-after", String.valueOf(seconds));
    } else {
      // Understood by the official SDKs of both makers.
      headers.put("x-should-retry", "false");
    }
    if (dialect == Dialect.ANTHROPIC && failure.errorClass() == ErrorClass.STEP_BUDGET) {
      headers.put("retry-after", NEVER_AGAIN_SECONDS);
    }
    return new Answer(row.status(), headers, tree(dialect, row, failure));
  }

  /** 400 for a request that was refused. */
  public static Answer refusal(Dialect dialect, RequestRefusedException refused) {
    return answer(dialect, AgentFailure.of(ErrorClass.BAD_REQUEST, refused.text()), false);
  }

  /** 404 for an Anthropic client that asks for what is not there. */
  public static Answer notFound(String message) {
    return new Answer(
        404,
        Map.of("content-type", "application/json"),
        tree(
            Dialect.ANTHROPIC,
            new Row(404, "not_found_error", "not_found"),
            AgentFailure.of(ErrorClass.BAD_REQUEST, message)));
  }

  /** The tree of an error event: for Anthropic and chat, the one that stands in a body. */
  static Map<String, @Nullable Object> anthropicEvent(AgentFailure failure) {
    Row row = row(Dialect.ANTHROPIC, failure.errorClass());
    return tree(Dialect.ANTHROPIC, row, failure);
  }

  /**
   * The error object of {@code response.failed}. Codex decides by the code alone: it comes again
   * for {@code server_error} and {@code rate_limit_exceeded}, compacts at its next turn for {@code
   * context_length_exceeded}, and stops for {@code invalid_prompt}.
   */
  static Map<String, @Nullable Object> responsesError(AgentFailure failure) {
    String code =
        switch (failure.errorClass()) {
          case CONTEXT_OVERFLOW -> "context_length_exceeded";
          case RATE_LIMIT -> "rate_limit_exceeded";
          case OVERLOAD, TRANSPORT, ENGINE -> "server_error";
          case OUTPUT_TOO_LONG,
              INVALIDATED,
              AUTHENTICATION,
              BAD_REQUEST,
              STEP_BUDGET,
              NO_OPEN_TURN ->
              "invalid_prompt";
        };
    Map<String, @Nullable Object> error = new LinkedHashMap<>();
    error.put("code", code);
    error.put("message", message(Dialect.RESPONSES, failure));
    return error;
  }

  private static Row row(Dialect dialect, ErrorClass errorClass) {
    return dialect == Dialect.ANTHROPIC ? anthropicRow(errorClass) : openAiRow(dialect, errorClass);
  }

  private static Row anthropicRow(ErrorClass errorClass) {
    return switch (errorClass) {
      case CONTEXT_OVERFLOW -> new Row(400, "invalid_request_error", "context_length_exceeded");
      case OUTPUT_TOO_LONG -> new Row(400, "invalid_request_error", "max_tokens_too_large");
      case INVALIDATED -> new Row(400, "invalid_request_error", "rollout_invalidated");
      // Claude Code retries 401, and stops at 403.
      case AUTHENTICATION -> new Row(403, "permission_error", "invalid_api_key");
      case RATE_LIMIT -> new Row(429, "rate_limit_error", "rate_limit_exceeded");
      case OVERLOAD -> new Row(529, "overloaded_error", "upstream_overloaded");
      case TRANSPORT -> new Row(502, "api_error", "upstream_unavailable");
      case ENGINE -> new Row(500, "api_error", "upstream_error");
      case BAD_REQUEST -> new Row(400, "invalid_request_error", "invalid_request");
      case STEP_BUDGET -> new Row(429, "rate_limit_error", "max_steps_exceeded");
      case NO_OPEN_TURN -> new Row(400, "invalid_request_error", "no_open_turn");
    };
  }

  private static Row openAiRow(Dialect dialect, ErrorClass errorClass) {
    return switch (errorClass) {
      case CONTEXT_OVERFLOW -> new Row(400, "invalid_request_error", "context_length_exceeded");
      case OUTPUT_TOO_LONG -> new Row(400, "invalid_request_error", "max_tokens_too_large");
      case INVALIDATED -> new Row(400, "invalid_request_error", "rollout_invalidated");
      // Codex retries 401 and 403.
      case AUTHENTICATION ->
          new Row(
              dialect == Dialect.RESPONSES ? 400 : 401, "authentication_error", "invalid_api_key");
      case RATE_LIMIT -> new Row(429, "rate_limit_error", "rate_limit_exceeded");
      // A 503 would make Codex ask (request retries + 1) times (stream retries + 1) times.
      case OVERLOAD ->
          new Row(dialect == Dialect.RESPONSES ? 429 : 503, "server_error", "upstream_overloaded");
      case TRANSPORT -> new Row(502, "server_error", "upstream_unavailable");
      case ENGINE -> new Row(500, "server_error", "upstream_error");
      case BAD_REQUEST -> new Row(400, "invalid_request_error", "invalid_request");
      // Codex stops at a 429 that has no retry-after.
      case STEP_BUDGET -> new Row(429, "rate_limit_error", "max_steps_exceeded");
      case NO_OPEN_TURN -> new Row(400, "invalid_request_error", "no_open_turn");
    };
  }

  /** The reference server does the same for Anthropic, and for the same reason. */
  private static Row finalRow(Dialect dialect, ErrorClass errorClass) {
    Row row = row(dialect, errorClass);
    return new Row(400, "upstream_error", row.code());
  }

  private static Map<String, @Nullable Object> tree(
      Dialect dialect, Row row, AgentFailure failure) {
    Map<String, @Nullable Object> error = new LinkedHashMap<>();
    error.put("type", row.type());
    error.put("message", message(dialect, failure));
    if (dialect != Dialect.ANTHROPIC) {
      error.put("param", null);
    }
    error.put("code", row.code());
    if (!failure.details().isEmpty()) {
      error.put("details", failure.details());
    }
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    if (dialect == Dialect.ANTHROPIC) {
      tree.put("type", "error");
    }
    tree.put("error", error);
    return tree;
  }

  /** Claude Code compacts, or asks for less, by what the message says. */
  private static String message(Dialect dialect, AgentFailure failure) {
    if (dialect != Dialect.ANTHROPIC) {
      return failure.message();
    }
    return switch (failure.errorClass()) {
      case CONTEXT_OVERFLOW -> {
        Optional<Long> tokens = number(failure, "input_tokens");
        Optional<Long> window = number(failure, "context_window");
        yield tokens.isPresent() && window.isPresent() && tokens.get() > window.get()
            ? "prompt is too long: " + tokens.get() + " tokens > " + window.get() + " maximum"
            : "prompt is too long: " + failure.message();
      }
      case OUTPUT_TOO_LONG -> {
        Optional<Long> asked = number(failure, "max_tokens");
        yield asked.isPresent() && failure.maxTokensAllowed().isPresent()
            ? "max_tokens: "
                + asked.get()
                + " > "
                + failure.maxTokensAllowed().getAsLong()
                + ", which is the maximum allowed number of output tokens"
            : failure.message();
      }
      case INVALIDATED,
          AUTHENTICATION,
          RATE_LIMIT,
          OVERLOAD,
          TRANSPORT,
          ENGINE,
          BAD_REQUEST,
          STEP_BUDGET,
          NO_OPEN_TURN ->
          failure.message();
    };
  }

  private static Optional<Long> number(AgentFailure failure, String key) {
    return failure.details().get(key) instanceof Number number
        ? Optional.of(number.longValue())
        : Optional.empty();
  }
}
