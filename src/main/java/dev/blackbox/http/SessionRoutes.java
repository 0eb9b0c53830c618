package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.kernel.Resource;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.time.Duration;
import java.util.Optional;

/** One conversation and its turns. */
final class SessionRoutes {

  private final Rollout rollout;
  private final Limits limits;
  private final int waitSecondsMax;

  SessionRoutes(Rollout rollout, Limits limits, int waitSecondsMax) {
    this.rollout = rollout;
    this.limits = limits;
    this.waitSecondsMax = waitSecondsMax;
  }

  Answer submit(Call call) {
    Rollout.SubmitRequest request = Requests.submit(call.sessionId(), call.body());
    Rollout.Submission submission = rollout.submit(request);
    if (request.async()) {
      return Answer.of(202, Answers.accepted(submission));
    }
    TurnSnapshot turn = submission.turn();
    if (!turn.state().isSettled()) {
      turn = rollout.await(turn.key(), Optional.empty()).turn();
    }
    TurnSnapshot.Settlement end = Answers.settlement(turn);
    return switch (end.outcome()) {
      case TurnOutcome.Committed committed ->
          Answer.ok(Answers.committed(turn, committed.work(), submission.replay()));
      case TurnOutcome.WithoutAnswer without -> Answer.refusal(without.error().toProblem());
    };
  }

  Answer turn(Call call) {
    Faults faults = new Faults();
    Optional<Duration> wait = call.query().seconds("wait", waitSecondsMax, faults);
    faults.throwIfAny();
    Rollout.TurnView view = rollout.turn(call.sessionId(), call.turnId());
    if (wait.isPresent() && wait.get().isPositive() && !view.turn().state().isSettled()) {
      try (Resource _ = limits.longPoll()) {
        view = rollout.await(view.turn().key(), wait);
      }
    }
    return Answer.ok(Answers.turn(view));
  }

  Answer cancel(Call call) {
    return Answer.ok(Answers.cancel(rollout.cancel(call.sessionId(), call.turnId())));
  }

  Answer execute(Call call) {
    return Answer.ok(
        Answers.command(rollout.execute(Requests.execute(call.sessionId(), call.body()))));
  }

  Answer show(Call call) {
    Faults faults = new Faults();
    boolean history = call.query().flag("include_history", faults);
    boolean trace = call.query().flag("include_trace", faults);
    boolean turns = call.query().flag("include_turns", faults);
    faults.throwIfAny();
    Rollout.SessionView view = rollout.session(call.sessionId());
    return new Answer.Streamed(new SessionPage(rollout, view, history, trace, turns));
  }

  Answer abort(Call call) {
    return Answer.ok(Answers.abort(rollout.abort(call.sessionId())));
  }
}
