package dev.blackbox.control;

import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts.OpenBinding;
import dev.blackbox.turn.SessionState;
import java.util.Optional;

/**
 * The binding that the boot before left, while it cannot be had again without the secrets of its
 * registration, which the ledger does not keep. The same registration brings it back.
 */
final class UnregisteredBinding {

  private final Ledger ledger;
  private volatile boolean waits;

  UnregisteredBinding(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Why it must be registered again; empty if it need not. */
  Optional<String> missing(OpenBinding left) {
    waits = StoredRegistrations.hasHiddenSecrets(left.binding());
    return waits
        ? Optional.of(
            "the registration's backend_options held secrets, which the ledger does not keep."
                + " Register again with the same parameters: the session then goes on.")
        : Optional.empty();
  }

  /** The binding that waits, unless its session was aborted meanwhile. */
  Optional<OpenBinding> waiting() {
    return waits ? ledger.reads().openBinding().filter(this::isOpen) : Optional.empty();
  }

  /** It was registered again, or replaced. */
  void forget() {
    waits = false;
  }

  private boolean isOpen(OpenBinding left) {
    return ledger
        .reads()
        .session(left.sessionKey())
        .filter(session -> session.state() != SessionState.ABORTED)
        .isPresent();
  }
}
