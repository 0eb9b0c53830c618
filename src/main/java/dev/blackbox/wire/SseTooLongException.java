package dev.blackbox.wire;

/** A server-sent event that is longer than the bound. */
public final class SseTooLongException extends Exception {

  SseTooLongException(int eventBytesMax) {
    super("a server-sent event is longer than " + eventBytesMax + " bytes");
  }
}
