package dev.blackbox.http;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of one JSON object by the reference server's rules: unknown fields are ignored,
 * numbers may come as strings ({@code "5"}) and booleans count as 0 and 1, but a number is never a
 * string. What does not fit is noted in {@link Faults}, and a stand-in is returned so that reading
 * goes on; the caller throws the faults away or throws them before it uses what it read.
 */
final class Fields {

  /** What a number must be, in the reference server's words. */
  enum Range {
    ANY("", "", 0),
    OVER_0("greater_than", "Input should be greater than 0", 0),
    FROM_0("greater_than_equal", "Input should be greater than or equal to 0", 0),
    FROM_1("greater_than_equal", "Input should be greater than or equal to 1", 1);

    private final String type;
    private final String message;
    private final int bound;

    Range(String type, String message, int bound) {
      this.type = type;
      this.message = message;
      this.bound = bound;
    }

    /** False for NaN, unless anything goes. */
    boolean holds(double value) {
      return switch (this) {
        case ANY -> true;
        case OVER_0 -> value > bound;
        case FROM_0, FROM_1 -> value >= bound;
      };
    }

    void refuse(Faults faults, List<Object> at, @Nullable Object input) {
      faults.add(type, at, message, input, Map.of(this == OVER_0 ? "gt" : "ge", bound));
    }
  }

  /**
   * Digits, with single underscores between them as Python writes them, and a fraction of zeros.
   */
  private static final Pattern INTEGER = Pattern.compile("[+-]?\\d+(_\\d+)*(\\.0+)?");

  private static final Pattern NUMBER =
      Pattern.compile("[+-]?(\\d+(_\\d+)*\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?");
  private static final Pattern INFINITE = Pattern.compile("[+-]?inf(inity)?|[+-]?nan");

  /** Longer digit strings are no numbers that any field takes. */
  private static final int NUMBER_LENGTH_MAX = 400;

  static final String NOT_A_NUMBER =
      "Input should be a valid number, unable to parse string as a number";

  private static final String OBJECT_EXPECTED =
      "Input should be a valid dictionary or object to extract fields from";

  private final Map<?, ?> object;
  private final List<Object> place;
  private final Faults faults;

  private Fields(Map<?, ?> object, List<Object> place, Faults faults) {
    this.object = object;
    this.place = place;
    this.faults = faults;
  }

  /** The fields of {@code value}; no fields and a fault if it is not an object. */
  static Fields of(@Nullable Object value, List<Object> place, Faults faults) {
    if (value instanceof Map<?, ?> map) {
      return new Fields(map, place, faults);
    }
    faults.add("model_attributes_type", place, OBJECT_EXPECTED, value);
    return new Fields(Map.of(), place, new Faults());
  }

  /** A string that must be there. */
  String text(String name) {
    if (!object.containsKey(name)) {
      missing(name);
      return "";
    }
    return text(name, "");
  }

  /** A string, or {@code fallback} if the field is absent; null is refused. */
  String text(String name, String fallback) {
    if (!object.containsKey(name)) {
      return fallback;
    }
    if (object.get(name) instanceof String text) {
      return text;
    }
    faults.add("string_type", at(name), "Input should be a valid string", object.get(name));
    return "";
  }

  /** A string; empty if the field is absent or null. */
  Optional<String> textIfAny(String name) {
    return object.get(name) == null ? Optional.empty() : Optional.of(text(name, ""));
  }

  /** One of {@code allowed}; empty if the field is absent. */
  Optional<String> oneOf(String name, List<String> allowed) {
    if (!object.containsKey(name)) {
      return Optional.empty();
    }
    if (object.get(name) instanceof String text && allowed.contains(text)) {
      return Optional.of(text);
    }
    String expected = listed(allowed);
    faults.add(
        "literal_error",
        at(name),
        "Input should be " + expected,
        object.get(name),
        Map.of("expected", expected));
    return Optional.empty();
  }

  /** One of {@code allowed} that must be there. */
  String oneOfRequired(String name, List<String> allowed) {
    if (!object.containsKey(name)) {
      missing(name);
    }
    return oneOf(name, allowed).orElse("");
  }

  /** A whole number that fits an int; empty if the field is absent or null. */
  Optional<Integer> integer(String name, Range range) {
    return Optional.ofNullable(object.get(name))
        .flatMap(value -> whole(name, value))
        .flatMap(number -> inRange(name, number, range));
  }

  /**
   * A number, possibly infinite, never NaN unless {@code range} is any; empty if the field is
   * absent or null.
   */
  Optional<Double> number(String name, Range range) {
    Object value = object.get(name);
    if (value == null) {
      return Optional.empty();
    }
    Optional<Double> number =
        switch (value) {
          case Number plain -> Optional.of(plain.doubleValue());
          case Boolean flag -> Optional.of(flag ? 1.0 : 0.0);
          case String text -> parsedNumber(text);
          default -> Optional.empty();
        };
    if (number.isEmpty()) {
      if (value instanceof String) {
        faults.add("float_parsing", at(name), NOT_A_NUMBER, value);
      } else {
        faults.add("float_type", at(name), "Input should be a valid number", value);
      }
    } else if (!range.holds(number.get())) {
      range.refuse(faults, at(name), value);
      return Optional.empty();
    }
    return number;
  }

  /** As {@link #number}, and not infinite. */
  Optional<Double> finiteNumber(String name, Range range) {
    Optional<Double> number = number(name, range);
    if (number.isPresent() && (number.get().isInfinite() || number.get().isNaN())) {
      faults.add("finite_number", at(name), "Input should be a finite number", object.get(name));
      return Optional.empty();
    }
    return number;
  }

  /** A free-form object; empty if the field is absent; null is refused. */
  Map<String, @Nullable Object> object(String name) {
    if (!object.containsKey(name)) {
      return Map.of();
    }
    if (object.get(name) instanceof Map<?, ?> map) {
      Map<String, @Nullable Object> copy = new LinkedHashMap<>();
      map.forEach((key, value) -> copy.put(String.valueOf(key), value));
      return copy;
    }
    faults.add("dict_type", at(name), "Input should be a valid dictionary", object.get(name));
    return Map.of();
  }

  /** An object with fields of its own; empty if the field is absent or null. */
  Optional<Fields> nested(String name) {
    return Optional.ofNullable(object.get(name)).map(value -> of(value, at(name), faults));
  }

  /** An object with fields of its own that must be there. */
  Fields nestedRequired(String name) {
    if (!object.containsKey(name)) {
      missing(name);
      return new Fields(Map.of(), at(name), new Faults());
    }
    return of(object.get(name), at(name), faults);
  }

  /** A list of objects that must be there. */
  <T> List<T> listRequired(String name, Function<Fields, T> each) {
    if (!object.containsKey(name)) {
      missing(name);
      return List.of();
    }
    if (!(object.get(name) instanceof List<?> items)) {
      faults.add("list_type", at(name), "Input should be a valid list", object.get(name));
      return List.of();
    }
    List<T> read = new ArrayList<>(items.size());
    for (int index = 0; index < items.size(); index++) {
      read.add(each.apply(of(items.get(index), append(at(name), index), faults)));
    }
    return read;
  }

  /** A list of objects; empty if the field is absent or null. */
  <T> Optional<List<T>> listIfAny(String name, Function<Fields, T> each) {
    return object.get(name) == null ? Optional.empty() : Optional.of(listRequired(name, each));
  }

  /** Reads a decimal number as Python does; empty if it is none. */
  static Optional<Double> parsedNumber(String text) {
    String trimmed = text.strip();
    if (trimmed.length() > NUMBER_LENGTH_MAX) {
      return Optional.empty();
    }
    if (NUMBER.matcher(trimmed).matches()) {
      return Optional.of(Double.valueOf(trimmed.replace("_", "")));
    }
    String lower = trimmed.toLowerCase(Locale.ROOT);
    if (INFINITE.matcher(lower).matches()) {
      if (lower.endsWith("nan")) {
        return Optional.of(Double.NaN);
      }
      return Optional.of(
          lower.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY);
    }
    return Optional.empty();
  }

  private Optional<BigInteger> whole(String name, Object value) {
    return switch (value) {
      case Integer number -> Optional.of(BigInteger.valueOf(number));
      case Long number -> Optional.of(BigInteger.valueOf(number));
      case BigInteger number -> Optional.of(number);
      case Boolean flag -> Optional.of(flag ? BigInteger.ONE : BigInteger.ZERO);
      case Double number -> fromFraction(name, number);
      case String text -> fromText(name, text);
      default -> {
        faults.add("int_type", at(name), "Input should be a valid integer", value);
        yield Optional.empty();
      }
    };
  }

  private Optional<BigInteger> fromText(String name, String text) {
    String trimmed = text.strip();
    if (trimmed.length() <= NUMBER_LENGTH_MAX && INTEGER.matcher(trimmed).matches()) {
      return Optional.of(new BigDecimal(trimmed.replace("_", "")).toBigInteger());
    }
    faults.add(
        "int_parsing",
        at(name),
        "Input should be a valid integer, unable to parse string as an integer",
        text);
    return Optional.empty();
  }

  private Optional<BigInteger> fromFraction(String name, double number) {
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      faults.add("finite_number", at(name), "Input should be a finite number", number);
      return Optional.empty();
    }
    if (number != Math.rint(number)) {
      faults.add(
          "int_from_float",
          at(name),
          "Input should be a valid integer, got a number with a fractional part",
          number);
      return Optional.empty();
    }
    return Optional.of(new BigDecimal(number).toBigInteger());
  }

  private Optional<Integer> inRange(String name, BigInteger number, Range range) {
    if (!range.holds(number.doubleValue())) {
      range.refuse(faults, at(name), number);
      return Optional.empty();
    }
    if (number.bitLength() > 31) {
      faults.add(
          "less_than_equal",
          at(name),
          "Input should be less than or equal to " + Integer.MAX_VALUE,
          number,
          Map.of("le", Integer.MAX_VALUE));
      return Optional.empty();
    }
    return Optional.of(number.intValueExact());
  }

  private void missing(String name) {
    faults.add("missing", at(name), "Field required", null);
  }

  private List<Object> at(String name) {
    return append(place, name);
  }

  private static List<Object> append(List<Object> place, Object step) {
    List<Object> longer = new ArrayList<>(place);
    longer.add(step);
    return longer;
  }

  private static String listed(List<String> allowed) {
    String last = "'" + allowed.getLast() + "'";
    if (allowed.size() == 1) {
      return last;
    }
    return allowed.stream()
            .limit(allowed.size() - 1L)
            .map(value -> "'" + value + "'")
            .collect(Collectors.joining(", "))
        + " or "
        + last;
  }
}
