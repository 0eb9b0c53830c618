package dev.blackbox.proxy;

import java.nio.charset.StandardCharsets;

/**
 * Undoes the escapes of a JSON string on the way to another taker. What is no escape is left out:
 * it is no JSON then, and whoever looks at it as it stands finds it.
 */
final class UnescapedText implements TextTaker {

  private static final String ESCAPES = "\"\\/bfnrt";
  private static final String MEANINGS = "\"\\/\b\f\n\r\t";
  private static final int DIGITS = 4;

  private final TextTaker to;

  /** Of the escape that is open; -1: none. */
  private int escapeStart = -1;

  /** Digits of {@code \}{@code u} so far; -1: none is open. */
  private int digits = -1;

  private int code;

  UnescapedText(TextTaker to) {
    this.to = to;
  }

  @Override
  public void take(int value, int start, int end) {
    if (digits >= 0) {
      digit(value, start, end);
    } else if (escapeStart >= 0) {
      escaped(value, end);
    } else {
      plain(value, start, end);
    }
  }

  private void plain(int value, int start, int end) {
    if (value == '\\') {
      escapeStart = start;
    } else {
      to.take(value, start, end);
    }
  }

  private void escaped(int value, int end) {
    int known = ESCAPES.indexOf(value);
    if (value == 'u') {
      digits = 0;
      code = 0;
    } else {
      if (known >= 0) {
        to.take(MEANINGS.charAt(known), escapeStart, end);
      }
      escapeStart = -1;
    }
  }

  private void digit(int value, int start, int end) {
    int digit = Character.digit(value, 16);
    if (digit < 0) {
      piece();
      plain(value, start, end);
      return;
    }
    code = code << 4 | digit;
    if (++digits == DIGITS) {
      // Half of a pair of surrogates becomes "?"; no secret that can be a header has such.
      for (byte each : Character.toString((char) code).getBytes(StandardCharsets.UTF_8)) {
        to.take(each & 0xFF, escapeStart, end);
      }
      piece();
    }
  }

  /** The text goes on, but no escape does: a JSON string is over. */
  void piece() {
    escapeStart = -1;
    digits = -1;
  }

  @Override
  public void end() {
    piece();
    to.end();
  }
}
