package dev.blackbox.control;

import dev.blackbox.control.Rollout.Submission;
import dev.blackbox.control.Rollout.SubmitRequest;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Admission of turns. A known turn is found before anything else is asked (P3); for a new one the
 * checks come in the order of the reference server (section 9.2), and the ledger has the last word.
 */
final class Submissions {

  private final Ledger ledger;
  private final ServerStatus status;
  private final Binder binder;
  private final TurnEngine engine;
  private final HealthMonitor.GoneListener listener;

  Submissions(
      Ledger ledger,
      ServerStatus status,
      Binder binder,
      TurnEngine engine,
      HealthMonitor.GoneListener listener) {
    this.ledger = ledger;
    this.status = status;
    this.binder = binder;
    this.engine = engine;
    this.listener = listener;
  }

  Submission submit(SubmitRequest request) throws InterruptedException {
    if (request.async() && request.turnId().isEmpty()) {
      throw Problem.badRequest(
          "turn_id is required for async submissions.", Map.of("session_id", request.sessionId()));
    }
    Optional<LiveBinding> live = binder.current();
    String fingerprint = Fingerprints.of(request.messages());
    Optional<SessionSnapshot> session = sessionFor(ledger, request.sessionId(), live);
    if (session.isPresent()) {
      Optional<TurnSnapshot> known = known(session.get(), request, fingerprint);
      if (known.isPresent()) {
        return new Submission(known.get(), true);
      }
    }
    if (session.isEmpty()) {
      // A retry of what was trimmed must hear that it ran, whatever else keeps it from running.
      Optional<Problem> gone = gone(ledger, request);
      if (gone.isPresent()) {
        throw gone.get();
      }
    }
    Optional<Problem> refusal = refusal(request, live);
    if (refusal.isEmpty()
        && live.isPresent()
        && mayRun(session)
        && ledger.reads().activeTurn(live.get().sessionKey()).isEmpty()
        && !HealthMonitor.healthy(live.get())) {
      listener.agentGone(live.get(), "the agent does not answer its health check");
      refusal = Optional.of(Problem.unavailable("Backend is unhealthy.", Map.of()));
    }
    if (session.isEmpty()) {
      throw refusal.orElseGet(
          () ->
              Problem.notFound(
                  "Session does not exist.", Map.of("session_id", request.sessionId())));
    }
    return admit(request, live, session.get(), fingerprint, refusal);
  }

  private Submission admit(
      SubmitRequest request,
      Optional<LiveBinding> live,
      SessionSnapshot session,
      String fingerprint,
      Optional<Problem> refusal) {
    LedgerFacts.Admission admission =
        ledger.admit(
            new LedgerFacts.Admit(
                session.key(),
                turnId(request),
                fingerprint,
                Json.write(request.messages()),
                Json.write(request.metadata()),
                refusal,
                live.map(binding -> binding.effective().maxTurns()).orElse(0)));
    return switch (admission) {
      case LedgerFacts.Admission.Fresh(TurnSnapshot turn) -> {
        engine.launch(live.orElseThrow(), turn);
        yield new Submission(turn, false);
      }
      case LedgerFacts.Admission.Known(TurnSnapshot turn) -> new Submission(turn, true);
      case LedgerFacts.Admission.Refused(Problem problem) -> throw problem;
    };
  }

  /**
   * The bound session if it is meant; else the newest of that name, whose stored answers stay
   * available.
   */
  static Optional<SessionSnapshot> sessionFor(
      Ledger ledger, String sessionId, Optional<LiveBinding> live) {
    SessionId id;
    try {
      id = SessionId.parse(sessionId);
    } catch (Problem _) {
      return Optional.empty(); // refusal() says so, in its turn
    }
    if (live.filter(binding -> binding.sessionId().equals(id)).isPresent()) {
      return ledger.reads().session(live.get().sessionKey());
    }
    // The newest may be trimmed while one before it is kept: that is not the one that is meant.
    return ledger.reads().trimmed(id).isPresent() ? Optional.empty() : ledger.reads().session(id);
  }

  private static Optional<Problem> gone(Ledger ledger, SubmitRequest request) {
    try {
      return Lookups.gone(ledger, request.sessionId(), turnId(request));
    } catch (Problem _) {
      return Optional.empty(); // refusal() says so, in its turn
    }
  }

  private Optional<TurnSnapshot> known(
      SessionSnapshot session, SubmitRequest request, String fingerprint) {
    Optional<TurnId> id;
    try {
      id = turnId(request).or(session::generatedTurnId);
    } catch (Problem _) {
      return Optional.empty(); // refusal() says so, in its turn
    }
    return id.flatMap(turn -> ledger.turn(session.key(), turn))
        .filter(turn -> turn.fingerprint().equals(fingerprint));
  }

  private static Optional<TurnId> turnId(SubmitRequest request) {
    return request.turnId().map(TurnId::parse);
  }

  private Optional<Problem> refusal(SubmitRequest request, Optional<LiveBinding> live) {
    try {
      status.requireReady();
      LiveBinding binding = live.orElseThrow(() -> ServerStatus.notReady(status.now()));
      SessionId id = SessionId.parse(request.sessionId());
      turnId(request);
      requireOneUserMessage(binding.backendType(), request.messages());
      Lookups.requireBound(binding, id);
      return Optional.empty();
    } catch (Problem refusal) {
      return Optional.of(refusal);
    }
  }

  /**
   * A probe costs a call to the agent: not for a session that will refuse the turn anyway. Nor
   * while a turn is active: a busy agent may not answer, and is not dead.
   */
  private static boolean mayRun(Optional<SessionSnapshot> session) {
    return session
        .filter(found -> found.state() == dev.blackbox.turn.SessionState.ACTIVE)
        .isPresent();
  }

  private static void requireOneUserMessage(String backendType, List<Message> messages) {
    if (messages.isEmpty()) {
      throw Problem.badRequest("messages must not be empty.", Map.of());
    }
    if (messages.size() > 1) {
      throw Problem.badRequest(
          backendType + " phase 1 takes one message per turn; got " + messages.size() + ".",
          Map.of());
    }
    Message message = messages.getFirst();
    if (!message.role().equals("user")) {
      throw Problem.badRequest(
          backendType
              + " phase 1 only accepts a user message; got role \""
              + message.role()
              + "\".",
          Map.of());
    }
    String content = message.content();
    if (content == null || content.isBlank()) {
      throw Problem.badRequest(backendType + " phase 1 requires non-empty user content.", Map.of());
    }
  }
}
