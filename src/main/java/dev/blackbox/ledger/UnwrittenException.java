package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.util.Map;

/** What a batch's callers are told instead of their results. */
final class UnwrittenException extends Exception {

  private final boolean recorded;

  UnwrittenException(String message, boolean recorded, Throwable cause) {
    super(message, cause);
    this.recorded = recorded;
  }

  /** The facts are safe in the journal, but the rows are not there yet. */
  boolean isRecorded() {
    return recorded;
  }

  Problem toProblem() {
    return new Problem(ErrorCode.SERVICE_UNAVAILABLE, String.valueOf(getMessage()), Map.of(), this);
  }
}
