package dev.blackbox.control;

import dev.blackbox.control.Rollout.CancelView;
import dev.blackbox.control.Rollout.CommandSubmission;
import dev.blackbox.control.Rollout.ExecuteRequest;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.control.Rollout.Submission;
import dev.blackbox.control.Rollout.SubmitRequest;
import dev.blackbox.control.Scenario.Action;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Message;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** One client of one boot: does actions, and holds what it is told against {@link Truth}. */
record ModelClient(
    RolloutControl control,
    StagedBackend backend,
    StagedProxy proxy,
    StagedLedger ledger,
    LedgerReads reads,
    Stage stage,
    Truth truth) {

  static final String SESSION = "sess-1";

  /** What a client may be told when it does not get what it asked for. */
  private static final Set<ErrorCode> REFUSALS =
      EnumSet.of(
          ErrorCode.CONFLICT,
          ErrorCode.REQUEST_ERROR,
          ErrorCode.NOT_FOUND,
          ErrorCode.TOO_MANY_REQUESTS,
          ErrorCode.SERVICE_UNAVAILABLE,
          ErrorCode.BACKEND_ERROR,
          ErrorCode.PAUSE_TIMEOUT);

  void play(Action action) {
    try {
      switch (action) {
        case Action.Submit submit -> submit(submit);
        case Action.Poll(String id) -> poll(id);
        case Action.Cancel(String id) -> cancel(id);
        case Action.Abort _ -> abort();
        case Action.Pause(boolean fails, boolean restless) -> {
          proxy.engineFails = fails;
          proxy.engineRestless = restless;
          control.pause("why not", Optional.empty());
        }
        case Action.Resume(boolean fails) -> {
          proxy.engineFails = fails;
          control.resume("go on", Optional.empty());
        }
        case Action.Command _ ->
            command(
                control.execute(
                    new ExecuteRequest(SESSION, Optional.empty(), "true", Optional.empty())));
        case Action.Register(int maxTurns, boolean startFails) -> {
          backend.startFails = startFails;
          control.register(registration(maxTurns));
        }
        case Action.AgentDies _ -> backend.die();
        case Action.LedgerDown(int verbs) -> ledger.down.set(verbs);
        case Action.Status _ -> status();
      }
    } catch (Problem refusal) {
      if (!REFUSALS.contains(refusal.code())) {
        truth.wrong("answered " + refusal.code() + " to " + action + ": " + refusal.text());
      }
    }
  }

  static RegisterRequest registration(int maxTurns) {
    return new RegisterRequest(
        "fake",
        "http://127.0.0.1:9",
        "/v1",
        Optional.of(SESSION),
        Optional.of("inst-1"),
        Optional.empty(),
        Optional.empty(),
        Map.of(),
        maxTurns == 0 ? Map.of() : Map.of("max_turns", maxTurns));
  }

  private void submit(Action.Submit submit) {
    Map<TurnKey, TurnSnapshot> before = truth.told();
    OptionalLong bound = session();
    Submission submission;
    try {
      submission =
          control.submit(
              new SubmitRequest(
                  SESSION,
                  Optional.of(submit.id()).filter(id -> !id.isEmpty()),
                  submit.async(),
                  List.of(Message.user(submit.prompt())),
                  Map.of()));
    } catch (Problem refusal) {
      if (!submit.id().isEmpty() && bound.isPresent() && bound.equals(session())) {
        TurnSnapshot known = before.get(key(bound.getAsLong(), submit.id()));
        if (known != null && known.requestJson().contains(quoted(submit.prompt()))) {
          truth.wrong("P3: a known turn was refused: " + submit + ": " + refusal.text());
        }
      }
      throw refusal;
    }
    TurnSnapshot turn = submission.turn();
    if (!turn.requestJson().contains(quoted(submit.prompt()))) {
      truth.wrong("P3: another request's turn was answered to " + submit + ": " + turn);
    }
    if (!submission.replay() && before.containsKey(turn.key())) {
      truth.wrong("P2: a known turn was taken for a new one: " + turn.key());
    }
    truth.told(before, turn);
    if (!submit.async()) {
      Map<TurnKey, TurnSnapshot> meanwhile = truth.told();
      TurnSnapshot settled = control.await(turn.key(), Optional.empty()).turn();
      truth.told(meanwhile, settled);
      if (!settled.state().isSettled()) {
        truth.wrong("a wait without limit ended at " + settled.state() + " of " + turn.key());
      }
    }
  }

  private void command(CommandSubmission submission) {
    CommandSnapshot settled =
        control.awaitCommand(submission.command().number(), Optional.empty()).command();
    if (!settled.state().isSettled()) {
      truth.wrong("a wait without limit ended at " + settled.state() + " of a command");
    }
  }

  private void poll(String id) {
    Map<TurnKey, TurnSnapshot> before = truth.told();
    OptionalLong bound = session();
    try {
      truth.told(before, control.turn(SESSION, id).turn());
    } catch (Problem refusal) {
      lost(before, bound, id, refusal);
      throw refusal;
    }
  }

  private void cancel(String id) {
    Map<TurnKey, TurnSnapshot> before = truth.told();
    OptionalLong bound = session();
    try {
      CancelView view = control.cancel(SESSION, id);
      TurnSnapshot turn = view.turn().turn();
      truth.told(before, turn);
      truth.cancelAcknowledged(turn.key());
    } catch (Problem refusal) {
      lost(before, bound, id, refusal);
      throw refusal;
    }
  }

  private void lost(
      Map<TurnKey, TurnSnapshot> before, OptionalLong bound, String id, Problem refusal) {
    if (refusal.code() == ErrorCode.NOT_FOUND
        && bound.isPresent()
        && bound.equals(session())
        && before.containsKey(key(bound.getAsLong(), id))) {
      truth.wrong("P6: an acknowledged turn is not found: " + id + ": " + refusal.text());
    }
  }

  private void abort() {
    SessionSnapshot session = control.abort(SESSION).session();
    truth.abortAcknowledged(session.key());
    if (!session.state().wireName().equals("aborted")) {
      truth.wrong("aborted, it is said, and the session is " + session.state());
    }
  }

  private void status() {
    if (control.status().sessions().total() > 1) {
      truth.wrong("one binding has " + control.status().sessions());
    }
    if (control.checks().isEmpty()) {
      truth.wrong("nothing is checked");
    }
  }

  /** The session that the name means now. */
  private OptionalLong session() {
    return stage
        .outside(() -> reads.session(new SessionId(SESSION)))
        .map(found -> OptionalLong.of(found.key()))
        .orElse(OptionalLong.empty());
  }

  private static TurnKey key(long session, String id) {
    return new TurnKey(session, new TurnId(id));
  }

  private static String quoted(String prompt) {
    return "\"" + prompt + "\"";
  }
}
