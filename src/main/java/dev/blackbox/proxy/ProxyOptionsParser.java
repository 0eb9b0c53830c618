package dev.blackbox.proxy;

import dev.blackbox.kernel.Problem;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code backend_options.proxy} of a registration. Rules: reference server, sections 2.3 and
 * 2.4. Numbers are taken leniently (a numeric string, {@code 5.0}, {@code true} as 1), unknown keys
 * are not.
 */
public final class ProxyOptionsParser {

  /** Of RFC 9110, section 5.6.2. */
  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]*");

  /** Headers that belong to the connection, which no client lets others set. */
  private static final Set<String> CONNECTION_HEADERS =
      Set.of("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade");

  private static final int VALUE_CHARACTERS_MAX = 64;

  private final List<String> complaints = new ArrayList<>();

  private ProxyOptionsParser() {}

  /**
   * Reads the options out of a registration's {@code backend_options}: the defaults if they have no
   * {@code proxy}.
   *
   * @throws Problem {@code request_error} that names what was wrong
   */
  public static ProxyOptions fromBackendOptions(
      Map<String, ? extends @Nullable Object> backendOptions) {
    return backendOptions.containsKey("proxy")
        ? parse(backendOptions.get("proxy"))
        : ProxyOptions.DEFAULTS;
  }

  /**
   * Reads the value of {@code backend_options.proxy}, which was given; null means that null was
   * given, and is refused.
   *
   * @throws Problem {@code request_error} that names what was wrong
   */
  public static ProxyOptions parse(@Nullable Object proxy) {
    if (!(proxy instanceof Map<?, ?> options)) {
      throw Problem.badRequest("backend_options.proxy must be an object.", Map.of());
    }
    return new ProxyOptionsParser().read(options);
  }

  private ProxyOptions read(Map<?, ?> options) {
    ProxyOptions defaults = ProxyOptions.DEFAULTS;
    String stickyHeaderName = defaults.stickyHeaderName();
    OptionalInt stepsMax = defaults.stepsMax();
    OptionalDouble temperature = defaults.defaultTemperature();
    for (Map.Entry<?, ?> option : options.entrySet()) {
      String name = String.valueOf(option.getKey());
      switch (name) {
        case "sticky_header_name" -> stickyHeaderName = headerName(option.getValue());
        case "max_steps" -> stepsMax = steps(option.getValue());
        case "default_temperature" -> temperature = temperature(option.getValue());
        default -> complaints.add(shortened(name) + ": extra inputs are not permitted");
      }
    }
    if (!complaints.isEmpty()) {
      throw Problem.badRequest(
          "Invalid proxy config: backend_options.proxy."
              + String.join("; backend_options.proxy.", complaints)
              + ".",
          Map.of());
    }
    return new ProxyOptions(stickyHeaderName, stepsMax, temperature);
  }

  private String headerName(@Nullable Object value) {
    if (!(value instanceof String name)) {
      complain("sticky_header_name", "must be a string", value);
      return "";
    }
    if (!HEADER_NAME.matcher(name).matches()
        || CONNECTION_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
      complain("sticky_header_name", "must be a header name that may be set", value);
    }
    return name;
  }

  private OptionalInt steps(@Nullable Object value) {
    if (value == null) {
      return OptionalInt.empty();
    }
    BigDecimal number = number(value);
    if (number == null || number.stripTrailingZeros().scale() > 0) {
      complain("max_steps", "must be an integer, or null for no limit", value);
      return OptionalInt.empty();
    }
    if (number.signum() <= 0) {
      complain("max_steps", "must be greater than 0", value);
      return OptionalInt.empty();
    }
    // More than two thousand million steps are no limit that a turn could reach.
    BigDecimal largest = BigDecimal.valueOf(Integer.MAX_VALUE);
    return OptionalInt.of(number.min(largest).intValue());
  }

  private OptionalDouble temperature(@Nullable Object value) {
    if (value == null) {
      return OptionalDouble.empty();
    }
    BigDecimal number = number(value);
    if (number == null || !Double.isFinite(number.doubleValue())) {
      complain("default_temperature", "must be a number, or null for none", value);
      return OptionalDouble.empty();
    }
    if (number.signum() < 0) {
      complain("default_temperature", "must be greater than or equal to 0", value);
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(number.doubleValue());
  }

  private static @Nullable BigDecimal number(Object value) {
    try {
      return switch (value) {
        case Boolean yes -> yes ? BigDecimal.ONE : BigDecimal.ZERO;
        case Number number -> new BigDecimal(number.toString());
        case String text when text.length() <= VALUE_CHARACTERS_MAX -> new BigDecimal(text.strip());
        default -> null;
      };
    } catch (NumberFormatException notANumber) {
      return null;
    }
  }

  private void complain(String field, String rule, @Nullable Object value) {
    complaints.add(field + ": " + rule + ", not " + shortened(String.valueOf(value)));
  }

  private static String shortened(String text) {
    return text.length() <= VALUE_CHARACTERS_MAX
        ? text
        : text.substring(0, VALUE_CHARACTERS_MAX) + "…";
  }
}
