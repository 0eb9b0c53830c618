package dev.blackbox.http;

import dev.blackbox.kernel.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All that is wrong with one request, collected before it is refused. Types, places and texts are
 * those of the reference server ({@code details.errors}), whose clients may look at them.
 */
final class Faults {

  /** A body full of mistakes is answered with this many of them. */
  static final int LISTED_MAX = 50;

  /** Longest part of a wrong string that an answer repeats, in UTF-16 units. */
  private static final int ECHO_MAX = 64;

  private final List<Map<String, @Nullable Object>> errors = new ArrayList<>();
  private int dropped;

  /**
   * @param type the stable name of the rule
   * @param at where: {@code body} or {@code query}, then keys and indexes
   * @param message what was expected
   * @param input what came instead
   */
  void add(String type, List<Object> at, String message, @Nullable Object input) {
    add(type, at, message, input, Map.of());
  }

  /**
   * @param context the rule's own numbers, for example {@code {"gt": 0}}; may be empty
   */
  void add(
      String type,
      List<Object> at,
      String message,
      @Nullable Object input,
      Map<String, Object> context) {
    if (errors.size() == LISTED_MAX) {
      dropped++;
      return;
    }
    Map<String, @Nullable Object> error = new LinkedHashMap<>();
    error.put("type", type);
    error.put("loc", at.stream().map(Faults::shortened).toList());
    error.put("msg", message);
    error.put("input", echo(input));
    if (!context.isEmpty()) {
      error.put("ctx", context);
    }
    errors.add(error);
  }

  /** Refuses the request if anything is wrong with it. */
  void throwIfAny() {
    if (!errors.isEmpty()) {
      throw Problem.badRequest(summary(), Map.of("errors", List.copyOf(errors)));
    }
  }

  private String summary() {
    Map<String, @Nullable Object> first = errors.getFirst();
    int others = errors.size() + dropped - 1;
    return "Request validation failed. "
        + place(first.get("loc"))
        + ": "
        + first.get("msg")
        + (first.get("ctx") instanceof Map<?, ?> context && context.containsKey("error")
            ? " (" + context.get("error") + ")"
            : "")
        + (others == 0 ? "" : " (and " + others + " more)");
  }

  private static String place(@Nullable Object loc) {
    return loc instanceof List<?> steps
        ? steps.stream().map(String::valueOf).collect(Collectors.joining("."))
        : "body";
  }

  private static Object shortened(Object step) {
    return step instanceof String text && text.length() > ECHO_MAX
        ? text.substring(0, ECHO_MAX) + "…"
        : step;
  }

  /** Scalars as they came, long strings cut; of objects and arrays only that they were one. */
  private static @Nullable Object echo(@Nullable Object input) {
    return switch (input) {
      case String text -> shortened(text);
      case Map<?, ?> object when !object.isEmpty() -> "<object>";
      case List<?> list when !list.isEmpty() -> "<array>";
      case Double number when number.isNaN() || number.isInfinite() -> number.toString();
      case null, default -> input;
    };
  }
}
