package dev.blackbox.app;

/**
 * The program ends for a reason that an operator can act on: a code, and one line that says why.
 */
final class ExitException extends RuntimeException {

  private final ExitCode code;
  private final String reason;

  ExitException(ExitCode code, String reason) {
    super(reason);
    this.code = code;
    this.reason = reason;
  }

  ExitException(ExitCode code, String reason, Throwable cause) {
    super(reason, cause);
    this.code = code;
    this.reason = reason;
  }

  ExitCode code() {
    return code;
  }

  String reason() {
    return reason;
  }
}
