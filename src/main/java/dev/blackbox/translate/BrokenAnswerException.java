package dev.blackbox.translate;

/** An engine's answer that is not whole or not well-formed, and so is no answer (P9). */
public final class BrokenAnswerException extends Exception {

  BrokenAnswerException(String message) {
    super(message, null, false, false);
  }

  /** What was wrong; never repeats the answer. */
  public String text() {
    return String.valueOf(getMessage());
  }
}
