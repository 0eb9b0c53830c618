package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerFacts.CommandAdmission;
import dev.blackbox.ledger.LedgerFacts.CommandAdmit;
import dev.blackbox.ledger.LedgerFacts.CommandEnd;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The verbs about shell commands, each in the open transaction of a batch. */
final class CommandVerbs {

  /** Failures after which a controller may still look at what the agent left ("harvest"). */
  private static final Set<ErrorCode> HARVESTABLE =
      Set.of(ErrorCode.CONTEXT_OVERFLOW, ErrorCode.MAX_STEPS_EXCEEDED);

  private CommandVerbs() {}

  static CommandAdmission admit(Batch batch, long boot, CommandAdmit admit) {
    SessionSnapshot session = TurnVerbs.session(batch, admit.sessionKey());
    if (admit.commandId().isPresent()) {
      CommandId id = admit.commandId().get();
      Optional<CommandSnapshot> known = CommandRows.named(batch.rows(), session.key(), id);
      if (known.isPresent()) {
        return known.get().fingerprint().equals(admit.fingerprint())
            ? new CommandAdmission.Known(known.get())
            : new CommandAdmission.Refused(
                Problem.conflict(
                    "Same command_id was already used with a different command or timeout.",
                    CommandRows.details(session.id(), admit.commandId())));
      }
    }
    Optional<Problem> refusal =
        admit
            .refusal()
            .or(() -> refusal(batch, session))
            .or(() -> busy(batch, session))
            .or(() -> crowded(batch, session, admit.openMax()));
    if (refusal.isPresent()) {
      return new CommandAdmission.Refused(refusal.get());
    }
    long number = Rows.nextNumber(batch.rows(), "command", "command_number");
    batch.record(
        new Fact.CommandQueued(
            batch.now(),
            number,
            session.key(),
            admit.commandId().map(CommandId::value).orElseGet(CommandVerbs::generatedId),
            admit.fingerprint(),
            admit.timeoutSeconds(),
            boot,
            admit.command()));
    return new CommandAdmission.Fresh(command(batch, number));
  }

  /** Why a session takes no commands. Order and words: reference server, 8.6 and 9.3. */
  private static Optional<Problem> refusal(Batch batch, SessionSnapshot session) {
    Map<String, Object> details =
        Map.of("session_id", session.id().value(), "state", session.state().wireName());
    return switch (session.state()) {
      case ACTIVE -> Optional.empty();
      case ABORTED ->
          Optional.of(Problem.conflict("Session is aborted and cannot execute commands.", details));
      case DESYNCED ->
          mayHarvest(batch, session)
              ? Optional.empty()
              : Optional.of(
                  Problem.conflict("Session is desynced and cannot execute commands.", details));
    };
  }

  private static boolean mayHarvest(Batch batch, SessionSnapshot session) {
    return Rows.latestTurn(batch.rows(), session.key())
        .flatMap(TurnSnapshot::settlement)
        .map(TurnSnapshot.Settlement::outcome)
        .filter(TurnOutcome.Unknown.class::isInstance)
        .map(TurnOutcome.Unknown.class::cast)
        .filter(unknown -> HARVESTABLE.contains(unknown.error().code()))
        .isPresent();
  }

  private static Optional<Problem> busy(Batch batch, SessionSnapshot session) {
    return Rows.activeTurn(batch.rows(), session.key())
        .map(
            turn ->
                Problem.conflict(
                    "Session has an active turn in progress and cannot execute commands.",
                    Map.of(
                        "session_id",
                        session.id().value(),
                        "active_turn_id",
                        turn.key().turnId().value())));
  }

  private static Optional<Problem> crowded(Batch batch, SessionSnapshot session, int openMax) {
    return CommandRows.open(batch.rows(), session.key()) < openMax
        ? Optional.empty()
        : Optional.of(
            Problem.unavailable(
                "Already " + openMax + " commands of this session wait or run. Try again later.",
                Map.of("session_id", session.id().value())));
  }

  /**
   * A turn that was admitted meanwhile is no reason to refuse: what was accepted runs, before it or
   * after it.
   */
  static boolean begin(Batch batch, long boot, long number) {
    CommandSnapshot command = command(batch, number);
    if (command.state() != CommandState.QUEUED) {
      return false;
    }
    Optional<Problem> refusal = refusal(batch, TurnVerbs.session(batch, command.sessionKey()));
    if (refusal.isPresent()) {
      Problem why = refusal.get();
      TurnError error =
          new TurnError(why.code(), why.text() + " The command did not run.", why.details());
      end(batch, number, CommandEnd.without(CommandState.FAILED, error));
      return false;
    }
    batch.record(new Fact.CommandBegun(batch.now(), number, command.sessionKey(), boot));
    return true;
  }

  static CommandSnapshot end(Batch batch, long number, CommandEnd end) {
    CommandSnapshot command = command(batch, number);
    boolean tooLate =
        command.state() == CommandState.RUNNING
            && end.state() == CommandState.CANCELLED
            && end.resultJson().isEmpty();
    if (command.state().isSettled() || tooLate) {
      return command;
    }
    if (!command.state().mayBecome(end.state()) || end.state() == CommandState.INTERRUPTED) {
      throw new IllegalStateException(
          "a command that is " + command.state() + " cannot become " + end.state());
    }
    batch.record(
        new Fact.CommandEnded(
            batch.now(),
            number,
            command.sessionKey(),
            end.returnCode(),
            end.timedOut(),
            end.resultJson(),
            Optional.of(end.state().wireName()),
            end.error().map(CommandRows::json)));
    return command(batch, number);
  }

  /** No command of an aborted session begins any more. */
  static void abortQueued(Batch batch, long sessionKey, String reason) {
    for (CommandSnapshot command : CommandRows.queued(batch.rows(), sessionKey)) {
      TurnError error =
          new TurnError(
              ErrorCode.ABORTED,
              "Session was aborted before this command ran"
                  + (reason.isBlank() ? "." : ": " + reason),
              CommandRows.details(command.sessionId(), command.commandId()));
      end(batch, command.number(), CommandEnd.without(CommandState.CANCELLED, error));
    }
  }

  private static CommandSnapshot command(Batch batch, long number) {
    return CommandRows.numbered(batch.rows(), number)
        .orElseThrow(
            () -> Problem.notFound("Command is not known.", Map.of("command_number", number)));
  }

  private static String generatedId() {
    return "command-" + UUID.randomUUID().toString().replace("-", "");
  }
}
