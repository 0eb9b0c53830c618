package dev.blackbox.proxy;

import org.jspecify.annotations.Nullable;

/** A pause or resume call to the engine failed; the message says how, and is told to the caller. */
public final class ControlCallException extends Exception {

  public ControlCallException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
