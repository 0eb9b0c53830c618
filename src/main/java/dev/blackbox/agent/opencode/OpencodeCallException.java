package dev.blackbox.agent.opencode;

import dev.blackbox.agent.AgentResult.Kind;
import org.jspecify.annotations.Nullable;

/** A call to opencode that was not answered as it should be; the message names call and reason. */
final class OpencodeCallException extends Exception {

  private final Kind kind;
  private final int status;

  private OpencodeCallException(String message, Kind kind, int status, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
    this.status = status;
  }

  /** No answer at all. */
  static OpencodeCallException transport(String message, Throwable cause) {
    return new OpencodeCallException(message, Kind.TRANSPORT, 0, cause);
  }

  /** An HTTP status that means failure. */
  static OpencodeCallException status(String message, int status) {
    return new OpencodeCallException(message, Kind.TRANSPORT, status, null);
  }

  /** An answer that is not understood. */
  static OpencodeCallException protocol(String message) {
    return new OpencodeCallException(message, Kind.PROTOCOL, 0, null);
  }

  Kind kind() {
    return kind;
  }

  /** HTTP status; 0 if that was not what failed. */
  int status() {
    return status;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
