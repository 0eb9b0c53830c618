package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The table of what engines' errors mean. A row with codes counts if its status is the row's and
 * one of its codes stands as {@code code} (or {@code error}) at the top of the body, in its {@code
 * detail} or in its {@code error}. Source: the reference server's recording proxy, which sends
 * {@code error} early and {@code code} late, plain or under {@code detail}. After these come
 * OpenAI's code for a full window and the sentences of {@link EnginePhrases}, and at last the
 * status alone.
 */
public final class EngineErrors {

  private static final int MESSAGE_CHARACTERS_MAX = 1000;
  private static final int PREVIEW_CHARACTERS_MAX = 200;

  /** For errors inside of a stream that name none. */
  private static final int STATUS_OF_FRAMES = 502;

  private static final String OVERFLOW_MESSAGE = "Dressage proxy context window overflow.";
  private static final String INVALIDATED_MESSAGE = "Dressage rollout was invalidated.";

  private record Row(int status, Set<String> codes, ErrorClass errorClass) {}

  private static final List<Row> TABLE =
      List.of(
          new Row(413, Set.of("context_overflow"), ErrorClass.CONTEXT_OVERFLOW),
          new Row(
              502,
              Set.of(
                  "generation_preempted",
                  "partial_rollout_staleness_exceeded",
                  "trajectory_version_changed",
                  // The reference server takes these two for ordinary failures, though they too
                  // say that the weights changed under the rollout.
                  "weight_version_mismatch",
                  "weight_version_unavailable"),
              ErrorClass.INVALIDATED));

  /**
   * Engines say with these that a request is wrong; llama.cpp and Ollama did so with a 500. An
   * error inside of a stream may have no status and counts as 502.
   */
  private static final Set<Integer> PHRASE_STATUSES = Set.of(400, 413, 422, 500, 502);

  /** OpenAI's code, and the type of llama.cpp. */
  private static final Set<String> WINDOW_CODES =
      Set.of("context_length_exceeded", "exceed_context_size_error");

  /** What an error was found to mean, with the place in the body that says so. */
  private record Found(
      ErrorClass errorClass,
      String code,
      String text,
      Map<String, @Nullable Object> details,
      OptionalLong maxTokensAllowed) {}

  private EngineErrors() {}

  /** What an answer with an error status means for the turn. */
  public static EngineError ofAnswer(int status, byte[] body) {
    return meaning(status, found(status, body));
  }

  /**
   * What an error inside of a stream means for the turn.
   *
   * @param frame the whole object of the event
   */
  public static EngineError ofFrame(Map<String, @Nullable Object> frame) {
    int status = statusOf(frame).orElse(STATUS_OF_FRAMES);
    return meaning(status, found(status, frame));
  }

  /** What the agent is told of an answer with an error status. */
  public static AgentFailure failureOf(int status, byte[] body) {
    return failure(status, found(status, body));
  }

  /** What the agent is told of an error inside of a stream. */
  public static AgentFailure failureOf(Map<String, @Nullable Object> frame) {
    int status = statusOf(frame).orElse(STATUS_OF_FRAMES);
    return failure(status, found(status, frame));
  }

  /** The HTTP status that an error inside of a stream names, if it is one of an error. */
  public static OptionalInt statusOf(Map<String, @Nullable Object> frame) {
    // status_code: recording proxy; an integer code: vLLM and SGLang.
    for (Map<?, ?> error : places(frame)) {
      for (String key : List.of("status_code", "code")) {
        if (error.get(key) instanceof Integer status && status >= 400 && status <= 599) {
          return OptionalInt.of(status);
        }
      }
    }
    return OptionalInt.empty();
  }

  private static Found found(int status, byte[] body) {
    Object tree;
    try {
      tree = Json.parse(body);
    } catch (MalformedJsonException notJson) {
      tree = null;
    }
    if (tree instanceof Map<?, ?> object) {
      return found(status, object);
    }
    String preview = new String(body, StandardCharsets.UTF_8).strip();
    return ofText(status, "", shortened(preview, PREVIEW_CHARACTERS_MAX), Map.of());
  }

  private static Found found(int status, Map<?, ?> body) {
    for (Map<?, ?> place : places(body)) {
      String code = codeOf(place).orElse("");
      for (Row row : TABLE) {
        if (row.status() == status && row.codes().contains(code)) {
          Map<String, @Nullable Object> details =
              place.get("details") instanceof Map<?, ?> given ? stringKeys(given) : Map.of();
          return new Found(
              row.errorClass(), code, messageOf(place).orElse(""), details, OptionalLong.empty());
        }
      }
    }
    String windowCode = "";
    for (Map<?, ?> place : places(body)) {
      if (place.get("type") instanceof String type && WINDOW_CODES.contains(type)) {
        windowCode = type;
      } else if (codeOf(place).filter(WINDOW_CODES::contains).isPresent()) {
        windowCode = codeOf(place).orElse("");
      }
    }
    String text = shortened(textOf(body), MESSAGE_CHARACTERS_MAX);
    return ofText(status, windowCode, text, numbersOfLlamaCpp(body));
  }

  private static Found ofText(
      int status, String windowCode, String text, Map<String, @Nullable Object> numbers) {
    if (PHRASE_STATUSES.contains(status)) {
      Optional<EnginePhrases.Reading> reading = EnginePhrases.read(text);
      if (reading.isPresent()) {
        Map<String, @Nullable Object> details = reading.get().details();
        return new Found(
            reading.get().errorClass(),
            windowCode,
            text,
            details.isEmpty() ? numbers : details,
            reading.get().maxTokensAllowed());
      }
      if (!windowCode.isEmpty()) {
        return new Found(
            ErrorClass.CONTEXT_OVERFLOW, windowCode, text, numbers, OptionalLong.empty());
      }
    }
    return new Found(byStatus(status), "", text, Map.of(), OptionalLong.empty());
  }

  /** llama.cpp gives the numbers in fields of their own. */
  private static Map<String, @Nullable Object> numbersOfLlamaCpp(Map<?, ?> body) {
    Map<String, @Nullable Object> numbers = new LinkedHashMap<>();
    if (body.get("error") instanceof Map<?, ?> error
        && error.get("n_prompt_tokens") instanceof Number prompt
        && error.get("n_ctx") instanceof Number window) {
      numbers.put("context_window", window);
      numbers.put("input_tokens", prompt);
    }
    return numbers;
  }

  private static ErrorClass byStatus(int status) {
    return switch (status) {
      case 401, 403 -> ErrorClass.AUTHENTICATION;
      case 429 -> ErrorClass.RATE_LIMIT;
      case 503, 529 -> ErrorClass.OVERLOAD;
      case 408, 502, 504 -> ErrorClass.TRANSPORT;
      default -> status >= 500 ? ErrorClass.ENGINE : ErrorClass.BAD_REQUEST;
    };
  }

  private static EngineError meaning(int status, Found found) {
    return switch (found.errorClass()) {
      case CONTEXT_OVERFLOW ->
          new EngineError.ContextOverflow(messageOr(found, OVERFLOW_MESSAGE), found.details());
      case INVALIDATED ->
          new EngineError.Invalidated(found.code(), messageOr(found, INVALIDATED_MESSAGE));
      case OUTPUT_TOO_LONG,
          AUTHENTICATION,
          RATE_LIMIT,
          OVERLOAD,
          TRANSPORT,
          ENGINE,
          BAD_REQUEST,
          STEP_BUDGET,
          NO_OPEN_TURN ->
          new EngineError.Other(withText(status, found.text()));
    };
  }

  private static AgentFailure failure(int status, Found found) {
    String message =
        switch (found.errorClass()) {
          case CONTEXT_OVERFLOW -> messageOr(found, OVERFLOW_MESSAGE);
          case INVALIDATED -> messageOr(found, INVALIDATED_MESSAGE);
          case OUTPUT_TOO_LONG -> found.text();
          // An engine's words about keys may repeat them.
          case AUTHENTICATION -> "The engine refused the credentials of this server.";
          case RATE_LIMIT, OVERLOAD, TRANSPORT, ENGINE, BAD_REQUEST, STEP_BUDGET, NO_OPEN_TURN ->
              withText(status, found.text());
        };
    return new AgentFailure(
        found.errorClass(),
        message,
        found.details(),
        OptionalInt.empty(),
        found.maxTokensAllowed());
  }

  private static String messageOr(Found found, String message) {
    return found.text().isEmpty() ? message : found.text();
  }

  /** Where an error may say what it is; gateways put an engine's error into one of their own. */
  private static List<Map<?, ?>> places(Map<?, ?> body) {
    List<Map<?, ?>> places = new ArrayList<>();
    for (Object inner : new @Nullable Object[] {body.get("detail"), body.get("error")}) {
      if (inner instanceof Map<?, ?> object) {
        if (object.get("error") instanceof Map<?, ?> nested) {
          places.add(nested);
        }
        places.add(object);
      }
    }
    places.add(body);
    return places;
  }

  private static Optional<String> codeOf(Map<?, ?> place) {
    for (String key : List.of("code", "error")) {
      if (place.get(key) instanceof String code && !code.isEmpty()) {
        return Optional.of(code);
      }
    }
    return Optional.empty();
  }

  private static Optional<String> messageOf(Map<?, ?> place) {
    return place.get("message") instanceof String text && !text.isBlank()
        ? Optional.of(shortened(text, MESSAGE_CHARACTERS_MAX))
        : Optional.empty();
  }

  private static String textOf(Map<?, ?> body) {
    for (Map<?, ?> place : places(body)) {
      Optional<String> message = messageOf(place);
      if (message.isPresent()) {
        return message.get();
      }
    }
    for (String key : List.of("detail", "error")) {
      if (body.get(key) instanceof String text) {
        return text;
      }
    }
    return "";
  }

  private static String withText(int status, String text) {
    String sentence = "Upstream returned HTTP " + status;
    return text.isEmpty() ? sentence : sentence + ": " + text;
  }

  private static String shortened(String text, int charactersMax) {
    return text.length() <= charactersMax ? text : text.substring(0, charactersMax) + "…";
  }

  private static Map<String, @Nullable Object> stringKeys(Map<?, ?> object) {
    Map<String, @Nullable Object> copy = new LinkedHashMap<>();
    object.forEach((key, value) -> copy.put(String.valueOf(key), value));
    return copy;
  }
}
