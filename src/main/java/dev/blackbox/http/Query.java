package dev.blackbox.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The parameters after the question mark. Of a repeated one the last counts; unknown ones do not.
 */
final class Query {

  /** The spellings that the reference server takes, in any case. */
  private static final Set<String> TRUE = Set.of("1", "true", "t", "yes", "y", "on");

  private static final Set<String> FALSE = Set.of("0", "false", "f", "no", "n", "off");

  private static final int MILLIS_PER_SECOND = 1000;

  private final Map<String, String> values = new HashMap<>();

  Query(String raw) {
    for (String pair : raw.split("&", -1)) {
      int equals = pair.indexOf('=');
      String name = equals < 0 ? pair : pair.substring(0, equals);
      values.put(decoded(name), decoded(equals < 0 ? "" : pair.substring(equals + 1)));
    }
  }

  /** A flag, false if it is not there. */
  boolean flag(String name, Faults faults) {
    String value = values.get(name);
    if (value == null || FALSE.contains(value.toLowerCase(Locale.ROOT))) {
      return false;
    }
    if (TRUE.contains(value.toLowerCase(Locale.ROOT))) {
      return true;
    }
    faults.add(
        "bool_parsing",
        List.of("query", name),
        "Input should be a valid boolean, unable to interpret input",
        value);
    return false;
  }

  /** A number of seconds from 0 up, possibly infinite, shortened to {@code secondsMax}. */
  Optional<Duration> seconds(String name, int secondsMax, Faults faults) {
    String value = values.get(name);
    if (value == null) {
      return Optional.empty();
    }
    List<Object> place = List.of("query", name);
    Optional<Double> seconds = Fields.parsedNumber(value);
    if (seconds.isEmpty()) {
      faults.add("float_parsing", place, Fields.NOT_A_NUMBER, value);
    } else if (!Fields.Range.FROM_0.holds(seconds.get())) {
      Fields.Range.FROM_0.refuse(faults, place, value);
    } else {
      double bounded = Math.min(seconds.get(), secondsMax);
      return Optional.of(Duration.ofMillis(Math.round(bounded * MILLIS_PER_SECOND)));
    }
    return Optional.empty();
  }

  /** A whole number from {@code min} up, {@code fallback} if it is not there. */
  int whole(String name, int min, int fallback, Faults faults) {
    String value = values.get(name);
    if (value == null) {
      return fallback;
    }
    List<Object> place = List.of("query", name);
    if (!value.matches("[+-]?[0-9]{1,9}")) {
      faults.add(
          "int_parsing",
          place,
          "Input should be a valid integer of at most 9 digits, unable to parse string as an"
              + " integer",
          value);
      return fallback;
    }
    int number = Integer.parseInt(value);
    if (number < min) {
      faults.add(
          "greater_than_equal",
          place,
          "Input should be greater than or equal to " + min,
          value,
          Map.of("ge", min));
    }
    return number;
  }

  /** A broken escape stays as it is, and then is whatever its parameter makes of it. */
  private static String decoded(String raw) {
    try {
      return URLDecoder.decode(raw, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException brokenEscape) {
      return raw;
    }
  }
}
