package dev.blackbox.http;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a client would like ({@code Prefer}, RFC 7240). Preferences that are unknown or make no
 * sense are ignored, as the RFC demands; of a repeated one the first counts.
 *
 * @param respondAsync {@code respond-async}: an answer at once rather than the result
 * @param waitSeconds {@code wait=N}: how long to wait for the result before that
 */
record Preferences(boolean respondAsync, OptionalInt waitSeconds) {

  static final Preferences NONE = new Preferences(false, OptionalInt.empty());

  /** More digits are more seconds than anybody waits. */
  private static final int DIGITS_MAX = 9;

  static Preferences of(RequestHeaders headers) {
    String all = headers.joined("prefer");
    if (all.isEmpty()) {
      return NONE;
    }
    Map<String, String> wishes = new HashMap<>();
    for (String wish : all.split(",", -1)) {
      String[] nameAndValue = wish.split(";", 2)[0].split("=", 2);
      String value = nameAndValue.length == 2 ? unquoted(nameAndValue[1].strip()) : "";
      wishes.putIfAbsent(nameAndValue[0].strip().toLowerCase(Locale.ROOT), value);
    }
    return new Preferences(
        wishes.getOrDefault("respond-async", "no").isEmpty(), seconds(wishes.get("wait")));
  }

  /** {@code wait}, shortened to what is possible. */
  OptionalInt waitSeconds(int secondsMax) {
    return waitSeconds.isEmpty()
        ? waitSeconds
        : OptionalInt.of(Math.min(waitSeconds.getAsInt(), secondsMax));
  }

  /** The value of {@code Preference-Applied}, from what was done; empty if nothing was. */
  static Optional<String> applied(boolean respondAsync, OptionalInt waitSeconds) {
    List<String> parts =
        java.util.stream.Stream.of(
                respondAsync ? "respond-async" : "",
                waitSeconds.isPresent() ? "wait=" + waitSeconds.getAsInt() : "")
            .filter(part -> !part.isEmpty())
            .toList();
    return parts.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", parts));
  }

  private static String unquoted(String value) {
    return value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")
        ? value.substring(1, value.length() - 1)
        : value;
  }

  private static OptionalInt seconds(@org.jspecify.annotations.Nullable String value) {
    if (value == null || !value.matches("[0-9]+")) {
      return OptionalInt.empty();
    }
    String digits = value.replaceFirst("^0+(?=.)", "");
    return OptionalInt.of(
        digits.length() > DIGITS_MAX ? Integer.MAX_VALUE : Integer.parseInt(digits));
  }
}
