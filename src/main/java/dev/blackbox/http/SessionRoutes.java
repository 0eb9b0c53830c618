package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** One conversation and its turns. */
final class SessionRoutes {

  private final Rollout rollout;
  private final Limits limits;
  private final int waitSecondsMax;
  private final int pageTurnsMax;

  SessionRoutes(Rollout rollout, Limits limits, int waitSecondsMax, int pageTurnsMax) {
    this.rollout = rollout;
    this.limits = limits;
    this.waitSecondsMax = waitSecondsMax;
    this.pageTurnsMax = pageTurnsMax;
  }

  Answer submit(Call call) {
    Requests.Submit submit = Requests.submit(call, waitSecondsMax);
    Rollout.Submission submission = rollout.submit(submit.request());
    TurnSnapshot turn = submission.turn();
    Pace pace = submit.pace();
    if (pace.waits() && !turn.state().isSettled()) {
      turn = rollout.await(turn.key(), pace.within()).turn();
    }
    Answer answer =
        pace.endsWithResult(turn.state().isSettled())
            ? settled(turn, submission.replay())
            : accepted(turn, submission.replay());
    return pace.finish(answer, submission.replay());
  }

  private static Answer settled(TurnSnapshot turn, boolean replay) {
    return switch (Answers.settlement(turn).outcome()) {
      case TurnOutcome.Committed committed ->
          Answer.ok(Answers.committed(turn, committed.work(), replay));
      case TurnOutcome.WithoutAnswer without -> Answer.refusal(without.error().toProblem());
    };
  }

  private static Answer accepted(TurnSnapshot turn, boolean replay) {
    return Answer.of(202, Answers.accepted(turn, replay))
        .with("location", "/v1/sessions/" + turn.sessionId() + "/turns/" + turn.key().turnId())
        .with("retry-after", Dispatcher.RETRY_AFTER_SECONDS);
  }

  Answer turn(Call call) {
    Poll poll = Poll.of(call, waitSecondsMax);
    Rollout.TurnView view = rollout.turn(call.sessionId(), call.turnId());
    return poll.answer(new PolledTurn(rollout, view), limits);
  }

  private record PolledTurn(Rollout rollout, Rollout.TurnView view)
      implements Poll.Subject<PolledTurn> {

    @Override
    public boolean settled() {
      return view.turn().state().isSettled();
    }

    @Override
    public Tag tag() {
      TurnSnapshot turn = view.turn();
      return Tag.of(
          turn.key(),
          turn.createdAt(),
          turn.updatedAt(),
          turn.state().wireName(),
          view.sessionState());
    }

    @Override
    public PolledTurn await(Duration within) {
      return new PolledTurn(rollout, rollout.await(view.turn().key(), Optional.of(within)));
    }

    @Override
    public Map<String, ?> answer() {
      return Answers.turn(view);
    }
  }

  Answer cancel(Call call) {
    return Answer.ok(Answers.cancel(rollout.cancel(call.sessionId(), call.turnId())));
  }

  Answer show(Call call) {
    Faults faults = new Faults();
    boolean history = call.query().flag("include_history", faults);
    boolean trace = call.query().flag("include_trace", faults);
    boolean turns = call.query().flag("include_turns", faults);
    int offset = call.query().whole("offset", 0, 0, faults);
    int limit = call.query().whole("limit", 1, pageTurnsMax, faults);
    faults.throwIfAny();
    Rollout.SessionView view = rollout.session(call.sessionId());
    SessionPage.Range range = new SessionPage.Range(offset, Math.min(limit, pageTurnsMax));
    return new Answer.Streamed(
        new SessionPage(rollout, view, history, trace, turns, range), Map.of());
  }

  Answer abort(Call call) {
    return Answer.ok(Answers.abort(rollout.abort(call.sessionId())));
  }
}
