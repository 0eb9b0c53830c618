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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The table of what engines' errors mean. An error counts if its status is the row's and one of the
 * row's codes stands as {@code code} (or {@code error}) at the top of the body, in its {@code
 * detail} or in its {@code error}. Source: the reference server's recording proxy, which sends
 * {@code error} early and {@code code} late, plain or under {@code detail}.
 */
public final class EngineErrors {

  private static final int MESSAGE_CHARACTERS_MAX = 1000;
  private static final int PREVIEW_CHARACTERS_MAX = 200;

  private enum Meaning {
    OVERFLOW,
    INVALIDATED
  }

  private record Row(int status, Set<String> codes, Meaning meaning) {}

  private static final List<Row> TABLE =
      List.of(
          new Row(413, Set.of("context_overflow"), Meaning.OVERFLOW),
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
              Meaning.INVALIDATED));

  private EngineErrors() {}

  /** What an answer with an error status means. */
  public static EngineError ofAnswer(int status, byte[] body) {
    Object tree;
    try {
      tree = Json.parse(body);
    } catch (MalformedJsonException notJson) {
      tree = null;
    }
    if (tree instanceof Map<?, ?> object) {
      return classify(status, object);
    }
    String preview = new String(body, StandardCharsets.UTF_8).strip();
    return new EngineError.Other(withText(status, shortened(preview, PREVIEW_CHARACTERS_MAX)));
  }

  /**
   * What an error inside of a stream means.
   *
   * @param frame the whole object of the event
   */
  public static EngineError ofFrame(Map<String, @Nullable Object> frame) {
    return classify(statusOf(frame).orElse(502), frame);
  }

  /** The HTTP status that an error inside of a stream names, if it is one of an error. */
  public static OptionalInt statusOf(Map<String, @Nullable Object> frame) {
    Map<?, ?> error = frame.get("error") instanceof Map<?, ?> inner ? inner : frame;
    // status_code: recording proxy; an integer code: vLLM and SGLang.
    for (String key : List.of("status_code", "code")) {
      if (error.get(key) instanceof Integer status && status >= 400 && status <= 599) {
        return OptionalInt.of(status);
      }
    }
    return OptionalInt.empty();
  }

  private static EngineError classify(int status, Map<?, ?> body) {
    for (Map<?, ?> place : places(body)) {
      Optional<String> code = codeOf(place);
      if (code.isEmpty()) {
        continue;
      }
      for (Row row : TABLE) {
        if (row.status() == status && row.codes().contains(code.get())) {
          return meaning(row.meaning(), code.get(), place);
        }
      }
    }
    return new EngineError.Other(withText(status, shortened(textOf(body), MESSAGE_CHARACTERS_MAX)));
  }

  private static EngineError meaning(Meaning meaning, String code, Map<?, ?> place) {
    return switch (meaning) {
      case OVERFLOW ->
          new EngineError.ContextOverflow(
              messageOf(place).orElse("Dressage proxy context window overflow."),
              place.get("details") instanceof Map<?, ?> details ? stringKeys(details) : Map.of());
      case INVALIDATED ->
          new EngineError.Invalidated(
              code, messageOf(place).orElse("Dressage rollout was invalidated."));
    };
  }

  private static List<Map<?, ?>> places(Map<?, ?> body) {
    List<Map<?, ?>> places = new ArrayList<>();
    for (Object inner : new @Nullable Object[] {body.get("detail"), body.get("error")}) {
      if (inner instanceof Map<?, ?> object) {
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
