package dev.blackbox.upstream;

import org.jspecify.annotations.Nullable;

/** An engine gave no answer, or not a whole one. */
public final class UpstreamException extends Exception {

  /** In what way. */
  public enum Kind {
    /** There is no connection to it. */
    UNREACHABLE,
    /** A deadline passed. */
    TIMEOUT,
    /** The connection broke, or what came was not HTTP. */
    BROKEN,
    /** The answer is longer than the caller takes. */
    TOO_LARGE,
    /** The caller closed the call. */
    CANCELLED
  }

  private final Kind kind;

  public UpstreamException(Kind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }

  public String text() {
    String message = getMessage();
    return message == null ? kind.name() : message;
  }
}
