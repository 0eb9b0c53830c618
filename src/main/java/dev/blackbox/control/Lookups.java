package dev.blackbox.control;

import dev.blackbox.control.Rollout.CommandView;
import dev.blackbox.control.Rollout.TurnView;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import java.util.Map;
import java.util.Optional;

/** What a caller's names mean: sessions, turns and commands, found in the ledger. */
final class Lookups {

  private final Ledger ledger;
  private final Binder binder;

  Lookups(Ledger ledger, Binder binder) {
    this.ledger = ledger;
    this.binder = binder;
  }

  static void requireBound(LiveBinding binding, SessionId asked) {
    if (!binding.sessionId().equals(asked)) {
      throw Problem.of(
          ErrorCode.BOUND_SESSION_MISMATCH,
          "This rollout binding only serves the registered session_id.",
          Map.of(
              "expected_session_id",
              binding.sessionId().value(),
              "actual_session_id",
              asked.value()));
    }
  }

  /**
   * The bound session, or, while nothing is bound, the newest of that name that the ledger knows.
   * That one was trimmed is told whatever is bound.
   */
  SessionSnapshot session(SessionId id) {
    return session(id, Optional.empty());
  }

  private SessionSnapshot session(SessionId id, Optional<TurnId> turn) {
    Optional<LiveBinding> live = binder.current();
    boolean bound = live.filter(binding -> binding.sessionId().equals(id)).isPresent();
    if (!bound) {
      throwIfGone(id, turn);
      live.ifPresent(binding -> requireBound(binding, id));
    }
    return (bound ? ledger.reads().session(live.get().sessionKey()) : ledger.reads().session(id))
        .orElseThrow(
            () -> Problem.notFound("Session does not exist.", Map.of("session_id", id.value())));
  }

  private void throwIfGone(SessionId id, Optional<TurnId> turn) {
    Optional<Problem> gone = gone(ledger, id.value(), turn);
    if (gone.isPresent()) {
      throw gone.get();
    }
  }

  /**
   * Why nothing can be said of a session that was trimmed, if it was.
   *
   * @param turn the one that is asked for
   */
  static Optional<Problem> gone(Ledger ledger, String sessionId, Optional<TurnId> turn) {
    SessionId id;
    try {
      id = SessionId.parse(sessionId);
    } catch (Problem _) {
      return Optional.empty(); // none has such a name
    }
    return ledger
        .reads()
        .trimmed(id)
        .map(
            session ->
                session.gone(
                    turn.flatMap(
                        name -> ledger.reads().trimmed(new TurnKey(session.sessionKey(), name)))));
  }

  TurnSnapshot turn(String sessionId, String turnId) {
    SessionId session = SessionId.parse(sessionId);
    TurnId turn = TurnId.parse(turnId);
    Optional<TurnSnapshot> found = ledger.turn(session(session, Optional.of(turn)).key(), turn);
    if (found.isEmpty()) {
      throwIfGone(session, Optional.of(turn)); // a moment ago
    }
    return found.orElseThrow(
        () ->
            Problem.notFound(
                "Turn does not exist.",
                Map.of("session_id", session.value(), "turn_id", turn.value())));
  }

  CommandSnapshot command(String sessionId, String commandId) {
    SessionId session = SessionId.parse(sessionId);
    CommandId command = CommandId.parse(commandId);
    return ledger
        .reads()
        .command(session(session).key(), command)
        .orElseThrow(
            () ->
                Problem.notFound(
                    "Command does not exist.",
                    Map.of("session_id", session.value(), "command_id", command.value())));
  }

  TurnView view(TurnSnapshot turn) {
    return new TurnView(turn, stateOf(turn.key().sessionKey(), turn.sessionId()));
  }

  CommandView view(CommandSnapshot command) {
    return new CommandView(command, stateOf(command.sessionKey(), command.sessionId()));
  }

  private String stateOf(long sessionKey, SessionId id) {
    Optional<SessionSnapshot> session = ledger.reads().session(sessionKey);
    if (session.isEmpty()) {
      throwIfGone(id, Optional.empty()); // a moment ago
    }
    return session
        .map(found -> found.state().wireName())
        .orElseThrow(() -> new IllegalStateException("there is no session " + sessionKey));
  }
}
