package dev.blackbox.kernel;

import java.util.Map;
import java.util.regex.Pattern;

/** The one format of the identifiers that a caller may choose. */
public final class Identifiers {

  /**
   * The reference server's format: a letter or digit, then up to 127 of letters, digits and {@code
   * . _ : -}.
   */
  private static final Pattern FORMAT = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,127}");

  /** Longest part of a refused identifier that an error repeats, in UTF-16 units. */
  private static final int ECHO_MAX = 256;

  private Identifiers() {}

  public static String checked(String field, String value) {
    if (!FORMAT.matcher(value).matches()) {
      throw Problem.badRequest(
          field
              + " must be 1 to 128 characters: a letter or digit, then letters, digits, '.', '_',"
              + " ':' or '-'. Got \""
              + shortened(value)
              + "\".",
          Map.of(field, shortened(value)));
    }
    return value;
  }

  private static String shortened(String value) {
    return value.length() <= ECHO_MAX ? value : value.substring(0, ECHO_MAX) + "…";
  }
}
