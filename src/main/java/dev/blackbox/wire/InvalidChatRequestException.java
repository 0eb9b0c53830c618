package dev.blackbox.wire;

/** A body that is no chat completion request; the message says what was wrong, and where. */
public final class InvalidChatRequestException extends Exception {

  InvalidChatRequestException(String message) {
    super(message);
  }

  /** What was wrong; never repeats the body. */
  public String text() {
    String message = getMessage();
    return message == null ? "not a chat completion request" : message;
  }
}
