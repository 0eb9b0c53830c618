package dev.blackbox.agent;

import dev.blackbox.kernel.Problem;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code backend_options}: each getter checks one option and notes what is wrong with it, and
 * {@link #finish} reports everything at once, also the options that nobody asked for. Getters of
 * faulty options return a placeholder, which must not be used before {@link #finish} returned.
 *
 * <p>Coercion is as lenient as the reference server's: {@code "5"}, {@code 5.0} and {@code true}
 * are integers, {@code "yes"} and {@code 0} are booleans; a number is not a string. Messages name
 * options by dotted path and repeat numbers, but never strings, which may be secrets. For one
 * thread.
 */
public final class Options {

  private static final Set<String> TRUE = Set.of("true", "t", "yes", "y", "on", "1");
  private static final Set<String> FALSE = Set.of("false", "f", "no", "n", "off", "0");

  /** Longest number that is read from a string; longer ones are no options of ours. */
  private static final int DIGITS_MAX = 40;

  private final String type;
  private final String path;
  private final Map<String, @Nullable Object> values;
  private final Set<String> known = new LinkedHashSet<>();
  private final List<Options> parts = new ArrayList<>();

  /** Shared by all parts; in the order of the getters' calls. */
  private final List<Fault> faults;

  private record Fault(String path, String reason) {}

  private Options(
      String type, String path, Map<String, @Nullable Object> values, List<Fault> faults) {
    this.type = type;
    this.path = path;
    this.values = values;
    this.faults = faults;
  }

  /**
   * @param type the backend's type, for the messages
   */
  public static Options of(String type, Map<String, @Nullable Object> values) {
    return new Options(type, "", new LinkedHashMap<>(values), new ArrayList<>());
  }

  public String requiredString(String name) {
    Object value = take(name);
    if (!values.containsKey(name)) {
      fault(name, "a string is required");
    } else if (value instanceof String string) {
      return string;
    } else {
      fault(name, "must be a string, is " + described(value));
    }
    return "";
  }

  /**
   * An option that may be left out, but is no null.
   *
   * @param lengthMin least number of characters
   */
  public String string(String name, String otherwise, int lengthMin) {
    if (!values.containsKey(name)) {
      take(name);
      return otherwise;
    }
    return checked(name, requiredString(name), lengthMin);
  }

  /** Empty if the option is absent or null. */
  public Optional<String> text(String name, int lengthMin) {
    return take(name) == null
        ? Optional.empty()
        : Optional.of(checked(name, requiredString(name), lengthMin));
  }

  private String checked(String name, String value, int lengthMin) {
    if (values.get(name) instanceof String) {
      require(
          value.length() >= lengthMin,
          name,
          "must have at least " + lengthMin + (lengthMin == 1 ? " character" : " characters"));
      require(value.indexOf('\0') < 0, name, "must hold no NUL character");
    }
    return value;
  }

  /** One of a few words; an option that may be left out, but is no null. */
  public String choice(String name, String otherwise, List<String> allowed) {
    String value = string(name, otherwise, 0);
    if (!values.containsKey(name) || values.get(name) instanceof String) {
      require(allowed.contains(value), name, "must be one of " + String.join(", ", allowed));
    }
    return value;
  }

  /** A list of strings; an option that may be left out, but is no null. */
  public List<String> strings(String name, List<String> otherwise) {
    Object value = take(name);
    if (!values.containsKey(name)) {
      return otherwise;
    }
    if (!(value instanceof List<?> list)) {
      fault(name, "must be a list of strings, is " + described(value));
      return otherwise;
    }
    List<String> strings = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      if (list.get(i) instanceof String string) {
        require(string.indexOf('\0') < 0, name + "." + i, "must hold no NUL character");
        strings.add(string);
      } else {
        fault(name + "." + i, "must be a string, is " + described(list.get(i)));
      }
    }
    return List.copyOf(strings);
  }

  /** An option that may be left out, but is no null. */
  public long integer(String name, long otherwise, long min) {
    return values.containsKey(name) ? requiredInteger(name, min) : otherwise(name, otherwise);
  }

  /** An option that may be left out, but is no null. */
  public boolean flag(String name, boolean otherwise) {
    if (!values.containsKey(name)) {
      return otherwise(name, otherwise);
    }
    if (values.get(name) == null) {
      take(name);
      fault(name, "must be true or false, is null");
      return otherwise;
    }
    return flag(name).orElse(otherwise);
  }

  private <T> T otherwise(String name, T value) {
    take(name);
    return value;
  }

  /** The options inside an object that may be left out, but is no null. */
  public Options section(String name) {
    if (values.containsKey(name) && values.get(name) == null) {
      take(name);
      fault(name, "must be an object, is null");
    }
    return object(name).orElseGet(() -> new Options(type, path + name + ".", Map.of(), faults));
  }

  /** An object of objects, in its order, with whatever names the caller gave; may be left out. */
  public Map<String, Options> sections(String name) {
    Options whole = section(name);
    Map<String, Options> each = new LinkedHashMap<>();
    whole.values.keySet().forEach(key -> each.put(key, whole.section(key)));
    return each;
  }

  /** Notes a fault unless the condition holds. */
  public void require(boolean condition, String name, String reason) {
    if (!condition) {
      fault(name, reason);
    }
  }

  public long requiredInteger(String name, long min) {
    if (!values.containsKey(name)) {
      take(name);
      fault(name, "an integer is required");
      return min;
    }
    if (values.get(name) == null) {
      take(name);
      fault(name, "must be an integer, is null");
      return min;
    }
    return integer(name, min).orElse(min);
  }

  /** Empty if the option is absent or null. */
  public OptionalLong integer(String name, long min) {
    Object value = take(name);
    if (value == null) {
      return OptionalLong.empty();
    }
    OptionalLong integer = asInteger(value);
    if (integer.isEmpty()) {
      fault(name, "must be an integer, is " + described(value));
    } else if (integer.getAsLong() < min) {
      fault(name, "must be at least " + min + ", is " + described(value));
    }
    return integer;
  }

  /** Empty if the option is absent or null. */
  public OptionalDouble number(String name, double min) {
    Object value = take(name);
    if (value == null) {
      return OptionalDouble.empty();
    }
    OptionalDouble number = asNumber(value);
    if (number.isEmpty()) {
      fault(name, "must be a number, is " + described(value));
    } else if (number.getAsDouble() < min) {
      fault(name, "must be at least " + min + ", is " + described(value));
    }
    return number;
  }

  /** A whole number that is not negative, or a text; empty if the option is absent or null. */
  public Optional<Object> integerOrText(String name) {
    Object value = take(name);
    return switch (value) {
      case null -> Optional.empty();
      case String text -> Optional.of(text);
      default -> {
        OptionalLong integer = integer(name, 0);
        yield integer.isPresent() ? Optional.of(integer.getAsLong()) : Optional.empty();
      }
    };
  }

  /** A list of strings; empty if the option is absent or null. */
  public Optional<List<String>> optionalStrings(String name) {
    return take(name) == null ? Optional.empty() : Optional.of(strings(name, List.of()));
  }

  /** Empty if the option is absent or null. */
  public Optional<Boolean> flag(String name) {
    Object value = take(name);
    if (value == null) {
      return Optional.empty();
    }
    Optional<Boolean> flag = asBoolean(value);
    if (flag.isEmpty()) {
      fault(name, "must be true or false, is " + described(value));
    }
    return flag;
  }

  /** The options inside an object; empty if it is absent or null. */
  public Optional<Options> object(String name) {
    Object value = take(name);
    if (value == null) {
      return Optional.empty();
    }
    if (!(value instanceof Map<?, ?> map)) {
      fault(name, "must be an object, is " + described(value));
      return Optional.empty();
    }
    Map<String, @Nullable Object> inner = new LinkedHashMap<>();
    map.forEach((key, entry) -> inner.put(String.valueOf(key), entry));
    Options part = new Options(type, path + name + ".", inner, faults);
    parts.add(part);
    return Optional.of(part);
  }

  /**
   * Ends the reading.
   *
   * @throws Problem {@code request_error} that lists every fault
   */
  public void finish() {
    refuseUnknown();
    if (faults.isEmpty()) {
      return;
    }
    List<String> told = new ArrayList<>();
    faults.forEach(fault -> told.add(fault.path() + ": " + fault.reason()));
    throw Problem.badRequest(
        "Invalid " + type + " backend_options: " + String.join("; ", told),
        Map.of("blackbox_type", type));
  }

  private void refuseUnknown() {
    for (String name : values.keySet()) {
      if (!known.contains(name)) {
        fault(name, "unexpected option; known are " + String.join(", ", known));
      }
    }
    parts.forEach(Options::refuseUnknown);
  }

  private @Nullable Object take(String name) {
    known.add(name);
    return values.get(name);
  }

  private void fault(String name, String reason) {
    faults.add(new Fault(path + name, reason));
  }

  private static String described(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case String _ -> "a string";
      case Map<?, ?> _ -> "an object";
      case List<?> _ -> "a list";
      default -> value.toString();
    };
  }

  private static OptionalLong asInteger(Object value) {
    try {
      return switch (value) {
        case Boolean flag -> OptionalLong.of(flag ? 1 : 0);
        case Number number -> OptionalLong.of(new BigDecimal(number.toString()).longValueExact());
        case String text when text.strip().length() <= DIGITS_MAX ->
            OptionalLong.of(new BigDecimal(text.strip()).longValueExact());
        default -> OptionalLong.empty();
      };
    } catch (ArithmeticException | NumberFormatException notAnInteger) {
      return OptionalLong.empty();
    }
  }

  private static OptionalDouble asNumber(Object value) {
    try {
      return switch (value) {
        case Boolean flag -> OptionalDouble.of(flag ? 1 : 0);
        case Number number -> OptionalDouble.of(number.doubleValue());
        case String text when text.strip().length() <= DIGITS_MAX ->
            OptionalDouble.of(new BigDecimal(text.strip()).doubleValue());
        default -> OptionalDouble.empty();
      };
    } catch (NumberFormatException notANumber) {
      return OptionalDouble.empty();
    }
  }

  private static Optional<Boolean> asBoolean(Object value) {
    if (value instanceof Boolean flag) {
      return Optional.of(flag);
    }
    if (value instanceof Number number) {
      double d = number.doubleValue();
      return d == 0 ? Optional.of(false) : d == 1 ? Optional.of(true) : Optional.empty();
    }
    String text = String.valueOf(value).toLowerCase(Locale.ROOT);
    if (!(value instanceof String)) {
      return Optional.empty();
    }
    return TRUE.contains(text)
        ? Optional.of(true)
        : FALSE.contains(text) ? Optional.of(false) : Optional.empty();
  }
}
