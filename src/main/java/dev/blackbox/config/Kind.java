package dev.blackbox.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What values a setting may have. */
public sealed interface Kind {

  /** What is allowed, as it stands in help, documents and errors. */
  String allowed();

  /** A placeholder for the value in {@code --help}. */
  String label();

  /** Whether it may have this value, which is not empty unless {@link #mayBeEmpty}. */
  boolean allows(String value);

  default boolean mayBeEmpty() {
    return false;
  }

  /** A text without blanks and control characters. */
  record Text() implements Kind {
    @Override
    public String allowed() {
      return "a name or address";
    }

    @Override
    public String label() {
      return "TEXT";
    }

    @Override
    public boolean allows(String value) {
      return value.chars().allMatch(character -> character > ' ' && character < 0x7F);
    }
  }

  /** Something that is never shown, and never an option: other users see those with ps. */
  record Hidden(int lengthMax) implements Kind {
    @Override
    public String allowed() {
      return "up to " + lengthMax + " visible ASCII characters without blanks, or empty";
    }

    @Override
    public String label() {
      return "SECRET";
    }

    @Override
    public boolean allows(String value) {
      return value.length() <= lengthMax
          && value.chars().allMatch(character -> character > ' ' && character < 0x7F);
    }

    @Override
    public boolean mayBeEmpty() {
      return true;
    }
  }

  /** Names or addresses, or what looks like them, between commas; or empty for none. */
  record Names(String what) implements Kind {
    @Override
    public String allowed() {
      return what + " between commas, or empty";
    }

    @Override
    public String label() {
      return "LIST";
    }

    @Override
    public boolean allows(String value) {
      return value.chars().allMatch(character -> character >= ' ' && character < 0x7F);
    }

    @Override
    public boolean mayBeEmpty() {
      return true;
    }
  }

  /** Directories between colons; or empty for none. */
  record Paths() implements Kind {
    @Override
    public String allowed() {
      return "paths between colons, or empty";
    }

    @Override
    public String label() {
      return "PATHS";
    }

    @Override
    public boolean allows(String value) {
      return Arrays.stream(value.split(":", -1)).allMatch(Kind::isPath);
    }

    @Override
    public boolean mayBeEmpty() {
      return true;
    }
  }

  /** A directory, which is made if it is not there. */
  record Directory() implements Kind {
    @Override
    public String allowed() {
      return "a path";
    }

    @Override
    public String label() {
      return "PATH";
    }

    @Override
    public boolean allows(String value) {
      return isPath(value);
    }
  }

  /** A path, or empty for none. */
  record OptionalPath() implements Kind {
    @Override
    public String allowed() {
      return "a path, or empty";
    }

    @Override
    public String label() {
      return "PATH";
    }

    @Override
    public boolean allows(String value) {
      return isPath(value);
    }

    @Override
    public boolean mayBeEmpty() {
      return true;
    }
  }

  /** A whole number, limits included. */
  record Whole(long min, long max) implements Kind {
    @Override
    public String allowed() {
      return "a whole number from " + min + " to " + max;
    }

    @Override
    public String label() {
      return "N";
    }

    @Override
    public boolean allows(String value) {
      return parse(value).filter(number -> number >= min && number <= max).isPresent();
    }

    private static Optional<Long> parse(String value) {
      try {
        return Optional.of(Long.parseLong(value));
      } catch (NumberFormatException notOne) {
        return Optional.empty();
      }
    }
  }

  /** Seconds with or without a fraction, limits included. */
  record Seconds(double min, double max) implements Kind {
    @Override
    public String allowed() {
      return "a number of seconds from " + plain(min) + " to " + plain(max);
    }

    @Override
    public String label() {
      return "SECONDS";
    }

    @Override
    public boolean allows(String value) {
      // NaN is in no range, and Java's own suffixes (1f, 0x1p3) are nobody's idea of a number here.
      return value.matches("[+-]?[0-9.]+([eE][+-]?[0-9]+)?")
          && parse(value).filter(number -> number >= min && number <= max).isPresent();
    }

    private static Optional<Double> parse(String value) {
      try {
        return Optional.of(Double.parseDouble(value));
      } catch (NumberFormatException notOne) {
        return Optional.empty();
      }
    }

    private static String plain(double number) {
      return number == Math.rint(number)
          ? String.format(Locale.ROOT, "%.0f", number)
          : Double.toString(number);
    }
  }

  /** One of a few words. */
  record Choice(List<String> values) implements Kind {
    public Choice {
      values = List.copyOf(values);
    }

    @Override
    public String allowed() {
      return "one of " + String.join(", ", values);
    }

    @Override
    public String label() {
      return "WORD";
    }

    @Override
    public boolean allows(String value) {
      return values.contains(value);
    }
  }

  private static boolean isPath(String value) {
    try {
      return !Path.of(value).toString().isEmpty();
    } catch (InvalidPathException noPath) {
      return false;
    }
  }
}
