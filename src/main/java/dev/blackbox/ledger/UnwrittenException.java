package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.util.Map;

/** What a batch's callers are told instead of their results. */
final class UnwrittenException extends Exception {

  private static final String NOTHING =
      "The ledger cannot be written at the moment; nothing was recorded. Try again.";
  private static final String PERHAPS =
      "The ledger cannot be written at the moment. Nothing was recorded, unless the server restarts"
          + " before it can write again. Try again with the same identifiers.";
  private static final String RECORDED_NOT_VISIBLE =
      "It is recorded, but the ledger's database cannot be read at the moment. Try again with the"
          + " same identifiers.";

  private final boolean recorded;

  private UnwrittenException(String message, boolean recorded, Throwable cause) {
    super(message, cause);
    this.recorded = recorded;
  }

  /** What callers are told who come while nothing can be recorded. */
  static Problem nothingNow(String why) {
    return Problem.unavailable(why.isEmpty() ? NOTHING : NOTHING + " Reason: " + why, Map.of());
  }

  /**
   * The journal could not be written.
   *
   * @param gone whether what was written of the batch is surely gone
   */
  static UnwrittenException notRecorded(boolean gone, String why, Throwable cause) {
    return new UnwrittenException((gone ? NOTHING : PERHAPS) + " Reason: " + why, false, cause);
  }

  /** The journal has the batch, and the database could not be written. */
  static UnwrittenException notVisible(Throwable cause) {
    return new UnwrittenException(RECORDED_NOT_VISIBLE, true, cause);
  }

  /** The facts are safe in the journal, but the rows are not there yet. */
  boolean isRecorded() {
    return recorded;
  }

  Problem toProblem() {
    return new Problem(ErrorCode.SERVICE_UNAVAILABLE, String.valueOf(getMessage()), Map.of(), this);
  }
}
