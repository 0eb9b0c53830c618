package dev.blackbox.ledger;

import org.jspecify.annotations.Nullable;

/**
 * The ledger will not open. The message is one line for an operator: what is wrong, where, and what
 * to do.
 */
public final class LedgerRefusedException extends Exception {

  private final Reason reason;

  public LedgerRefusedException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }

  /** Each becomes an exit code of its own. */
  public enum Reason {
    LOCKED,
    NOT_WRITABLE,
    NEWER_VERSION,
    DAMAGED
  }
}
