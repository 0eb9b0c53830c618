package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerFacts.Admission;
import dev.blackbox.ledger.LedgerFacts.Admit;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The verbs about turns and sessions, each in the open transaction of a batch. */
final class TurnVerbs {

  private TurnVerbs() {}

  static Admission admit(Batch batch, long boot, Admit admit) {
    SessionSnapshot session = session(batch, admit.sessionKey());
    Optional<TurnId> name = admit.turnId().or(session::generatedTurnId);
    if (name.isPresent()) {
      TurnKey key = new TurnKey(session.key(), name.get());
      Optional<TurnSnapshot> known = Rows.turn(batch.rows(), key);
      if (known.isPresent()) {
        return known.get().fingerprint().equals(admit.fingerprint())
            ? new Admission.Known(known.get())
            : new Admission.Refused(
                Problem.conflict(
                    "Same turn_id was already used with a different request body.",
                    details(session, name.get())));
      }
    }
    Optional<Problem> refusal = refusal(batch, admit, session);
    if (refusal.isPresent()) {
      return new Admission.Refused(refusal.get());
    }
    TurnId id = name.orElseGet(TurnVerbs::generatedId);
    batch.record(
        new Fact.TurnQueued(
            batch.now(),
            session.key(),
            id.value(),
            turnsOf(batch, session.key()) + 1,
            admit.turnId().isEmpty(),
            admit.fingerprint(),
            boot,
            admit.requestJson(),
            admit.metadataJson()));
    return new Admission.Fresh(turn(batch, new TurnKey(session.key(), id)));
  }

  /** Why a turn that is not known is not admitted. Order and words: reference server, 9.2. */
  private static Optional<Problem> refusal(Batch batch, Admit admit, SessionSnapshot session) {
    if (admit.refusal().isPresent()) {
      return admit.refusal();
    }
    Map<String, Object> state = details(session);
    state.put("state", session.state().wireName());
    return switch (session.state()) {
      case ABORTED ->
          Optional.of(Problem.conflict("Session is aborted and cannot accept new turns.", state));
      case DESYNCED ->
          Optional.of(Problem.conflict("Session is desynced and cannot accept new turns.", state));
      case ACTIVE -> refusalOfActive(batch, admit, session);
    };
  }

  private static Optional<Problem> refusalOfActive(
      Batch batch, Admit admit, SessionSnapshot session) {
    Map<String, Object> details = details(session);
    if (session.committedTurns() >= admit.committedTurnsMax()) {
      details.put("max_turns", admit.committedTurnsMax());
      return Optional.of(
          Problem.of(
              ErrorCode.TOO_MANY_REQUESTS,
              "Session has used all of its " + admit.committedTurnsMax() + " turns.",
              details));
    }
    if (admit.turnId().isEmpty() && session.explicitTurnIds()) {
      return Optional.of(
          Problem.badRequest(
              "turn_id is required: this session was used with explicit turn ids before.",
              details));
    }
    if (admit.turnId().isPresent() && session.generatedTurnId().isPresent()) {
      details.put("expected_turn_id", session.generatedTurnId().get().value());
      details.put("actual_turn_id", admit.turnId().get().value());
      return Optional.of(
          Problem.conflict(
              "Session takes one turn only, under the turn_id that the server generated.",
              details));
    }
    return Rows.activeTurn(batch.rows(), session.key())
        .map(
            active -> {
              admit.turnId().ifPresent(id -> details.put("turn_id", id.value()));
              details.put("active_turn_id", active.key().turnId().value());
              return Problem.conflict("Another turn is active in this session.", details);
            });
  }

  static boolean start(Batch batch, long boot, TurnKey key) {
    Optional<TurnSnapshot> turn = Rows.turn(batch.rows(), key);
    if (turn.isEmpty()
        || !turn.get().state().mayBecome(TurnState.INFLIGHT)
        || session(batch, key.sessionKey()).state() != SessionState.ACTIVE) {
      return false;
    }
    batch.record(new Fact.TurnStarted(batch.now(), key.sessionKey(), key.turnId().value(), boot));
    return true;
  }

  static TurnSnapshot requestCancel(Batch batch, TurnKey key) {
    TurnSnapshot turn = turn(batch, key);
    if (turn.state().isSettled() || turn.cancelRequested()) {
      return turn;
    }
    batch.record(new Fact.TurnCancelRequested(batch.now(), key.sessionKey(), key.turnId().value()));
    return turn(batch, key);
  }

  static TurnSnapshot settle(Batch batch, TurnKey key, TurnOutcome outcome) {
    TurnSnapshot turn = turn(batch, key);
    if (turn.state().isSettled()) {
      return turn;
    }
    if (!turn.state().mayBecome(outcome.state())) {
      throw new IllegalStateException(
          "a turn that is " + turn.state() + " cannot become " + outcome.state());
    }
    SessionState before = session(batch, key.sessionKey()).state();
    boolean desyncs =
        outcome instanceof TurnOutcome.Unknown && before.mayBecome(SessionState.DESYNCED);
    batch.record(settled(batch, key, outcome, desyncs ? SessionState.DESYNCED : before));
    if (desyncs && outcome instanceof TurnOutcome.Unknown(TurnError error, Work _)) {
      batch.record(new Fact.SessionDesynced(batch.now(), key.sessionKey(), error.message()));
    }
    return turn(batch, key);
  }

  private static Fact settled(
      Batch batch, TurnKey key, TurnOutcome outcome, SessionState sessionState) {
    Optional<TurnError> error =
        switch (outcome) {
          case TurnOutcome.Committed _ -> Optional.empty();
          case TurnOutcome.WithoutAnswer without -> Optional.of(without.error());
        };
    Work work = outcome.work();
    Usage usage = work.usage();
    return new Fact.TurnSettled(
        batch.now(),
        key.sessionKey(),
        key.turnId().value(),
        outcome.state().wireName(),
        sessionState.wireName(),
        error.map(found -> found.code().wireName()),
        usage.totalTokens(),
        usage.inputTokens(),
        usage.outputTokens(),
        usage.reasoningTokens(),
        usage.steps(),
        usage.toolCalls(),
        work.backendSessionId(),
        error.map(TurnError::message),
        error.map(found -> Json.write(found.details())),
        work.outputsJson(),
        work.traceJson());
  }

  static boolean desync(Batch batch, long sessionKey, String reason) {
    if (!session(batch, sessionKey).state().mayBecome(SessionState.DESYNCED)) {
      return false;
    }
    batch.record(new Fact.SessionDesynced(batch.now(), sessionKey, reason));
    return true;
  }

  static boolean abort(Batch batch, long sessionKey, String reason) {
    SessionSnapshot session = session(batch, sessionKey);
    if (!session.state().mayBecome(SessionState.ABORTED)) {
      return false;
    }
    batch.record(new Fact.SessionAborted(batch.now(), sessionKey, reason));
    CommandVerbs.abortQueued(batch, sessionKey, reason);
    Optional<TurnSnapshot> active = Rows.activeTurn(batch.rows(), sessionKey);
    if (active.isPresent()) {
      TurnKey key = active.get().key();
      TurnError error =
          new TurnError(
              ErrorCode.ABORTED,
              "Session was aborted while this turn was "
                  + active.get().state().wireName()
                  + (reason.isBlank() ? "." : ": " + reason),
              details(session, key.turnId()));
      settle(batch, key, new TurnOutcome.Unknown(error, Work.NONE));
    }
    return true;
  }

  static void backendSession(Batch batch, long sessionKey, String backendSessionId) {
    Optional<String> known = session(batch, sessionKey).backendSessionId();
    if (!known.equals(Optional.of(backendSessionId))) {
      batch.record(new Fact.BackendSessionSeen(batch.now(), sessionKey, backendSessionId));
    }
  }

  static TurnSnapshot turn(Batch batch, TurnKey key) {
    return Rows.turn(batch.rows(), key)
        .orElseThrow(
            () -> Problem.notFound("Turn is not known.", Map.of("turn_id", key.turnId().value())));
  }

  static SessionSnapshot session(Batch batch, long sessionKey) {
    return Rows.session(batch.rows(), sessionKey)
        .orElseThrow(
            () ->
                TrimRows.session(batch.rows(), sessionKey)
                    .map(LedgerFacts.TrimmedSession::gone)
                    .orElseGet(
                        () ->
                            Problem.notFound(
                                "Session is not known.", Map.of("session_key", sessionKey))));
  }

  private static int turnsOf(Batch batch, long sessionKey) {
    return Sql.first(
            batch.rows(),
            "SELECT turn_count FROM session WHERE session_key = ?",
            row -> row.getInt(1),
            sessionKey)
        .orElseThrow();
  }

  private static TurnId generatedId() {
    return new TurnId("turn-" + UUID.randomUUID().toString().replace("-", ""));
  }

  private static Map<String, Object> details(SessionSnapshot session) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("session_id", session.id().value());
    return details;
  }

  private static Map<String, @Nullable Object> details(SessionSnapshot session, TurnId turnId) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>(details(session));
    details.put("turn_id", turnId.value());
    return details;
  }
}
