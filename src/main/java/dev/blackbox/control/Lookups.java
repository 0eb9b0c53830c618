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
   */
  SessionSnapshot session(SessionId id) {
    Optional<LiveBinding> live = binder.current();
    live.ifPresent(binding -> requireBound(binding, id));
    Optional<SessionSnapshot> session =
        live.isPresent()
            ? ledger.reads().session(live.get().sessionKey())
            : ledger.reads().session(id);
    return session.orElseThrow(
        () ->
            gone(ledger, id.value(), Optional.empty())
                .orElseGet(
                    () ->
                        Problem.notFound(
                            "Session does not exist.", Map.of("session_id", id.value()))));
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
    if (binder.current().isEmpty()) {
      Optional<Problem> gone = gone(ledger, sessionId, Optional.of(turn));
      if (gone.isPresent()) {
        throw gone.get();
      }
    }
    return ledger
        .turn(session(session).key(), turn)
        .orElseThrow(
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
    return new TurnView(turn, stateOf(turn.key().sessionKey()));
  }

  CommandView view(CommandSnapshot command) {
    return new CommandView(command, stateOf(command.sessionKey()));
  }

  private String stateOf(long sessionKey) {
    return ledger
        .reads()
        .session(sessionKey)
        .map(session -> session.state().wireName())
        .orElseThrow(() -> new IllegalStateException("there is no session " + sessionKey));
  }
}
