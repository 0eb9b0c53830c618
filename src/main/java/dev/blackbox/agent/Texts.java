package dev.blackbox.agent;

import dev.blackbox.wire.Fingerprints;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Texts that agents sent, made short. */
public final class Texts {

  private static final Pattern WHITESPACE = Pattern.compile("\\s+");

  private Texts() {}

  /** The beginning of a long text, with a remark on how much is missing. */
  public static String cut(String text, int charactersMax) {
    if (text.length() <= charactersMax) {
      return text;
    }
    int end = charactersMax;
    if (end > 0 && Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(0, end) + "[… " + (text.length() - end) + " characters left out …]";
  }

  /** One line: runs of whitespace become blanks; objects are JSON with sorted keys. */
  public static String compact(Object value, int charactersMax) {
    String text = value instanceof String given ? given : Fingerprints.canonical(value);
    return cut(WHITESPACE.matcher(text).replaceAll(" ").strip(), charactersMax);
  }

  /** Whether a value counts as something: no null, false, zero, and nothing empty. */
  public static boolean isSomething(@Nullable Object value) {
    return switch (value) {
      case null -> false;
      case Boolean flag -> flag;
      case String text -> !text.isEmpty();
      case Number number -> number.doubleValue() != 0;
      case Map<?, ?> map -> !map.isEmpty();
      case List<?> list -> !list.isEmpty();
      default -> true;
    };
  }

  /** The first of an object's members that is something. */
  public static Optional<Object> first(Map<?, ?> object, String... names) {
    for (String name : names) {
      Object value = object.get(name);
      if (value != null && isSomething(value)) {
        return Optional.of(value);
      }
    }
    return Optional.empty();
  }

  /** A count; 0 for anything that is none. */
  public static long count(Map<?, ?> object, String name) {
    return object.get(name) instanceof Number number ? Math.max(0, number.longValue()) : 0;
  }
}
