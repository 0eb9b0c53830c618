package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.kernel.Resource;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** One conversation and its turns. */
final class SessionRoutes {

  /**
   * How often a poll that waits for any change looks whether a turn has started; that it has
   * settled is told at once.
   */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

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
    OptionalInt seconds = submit.waiting();
    boolean waits = seconds.isEmpty() || seconds.getAsInt() > 0;
    if (waits && !turn.state().isSettled()) {
      Optional<Duration> within =
          seconds.isEmpty()
              ? Optional.empty()
              : Optional.of(Duration.ofSeconds(seconds.getAsInt()));
      turn = rollout.await(turn.key(), within).turn();
    }
    Answer answer =
        waits && (seconds.isEmpty() || turn.state().isSettled())
            ? settled(turn, submission.replay())
            : accepted(turn, submission.replay());
    if (submit.preferenceApplied().isPresent()) {
      answer = answer.with("preference-applied", submit.preferenceApplied().get());
    }
    return submission.replay() ? answer.with("idempotent-replayed", "true") : answer;
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
    Faults faults = new Faults();
    Optional<Duration> asked = call.query().seconds("wait", waitSecondsMax, faults);
    faults.throwIfAny();
    OptionalInt wish = Preferences.of(call.headers()).waitSeconds(waitSecondsMax);
    boolean wished = asked.isEmpty() && wish.isPresent();
    Duration wait = wished ? Duration.ofSeconds(wish.getAsInt()) : asked.orElse(Duration.ZERO);
    String known = call.headers().joined("if-none-match");
    Rollout.TurnView view = rollout.turn(call.sessionId(), call.turnId());
    boolean waits = known.isEmpty() || TurnTag.of(view).isIn(known);
    if (waits && wait.isPositive() && !view.turn().state().isSettled()) {
      try (Resource _ = limits.longPoll()) {
        view = known.isEmpty() ? settledWithin(view, wait) : changedWithin(view, wait);
      }
    }
    TurnTag tag = TurnTag.of(view);
    Answer answer =
        tag.isIn(known) ? new Answer.Unchanged(Map.of()) : Answer.ok(Answers.turn(view));
    answer = answer.with("etag", tag.value());
    Optional<String> applied = Preferences.applied(false, wished ? wish : OptionalInt.empty());
    return applied.isPresent() ? answer.with("preference-applied", applied.get()) : answer;
  }

  private Rollout.TurnView settledWithin(Rollout.TurnView view, Duration wait) {
    return rollout.await(view.turn().key(), Optional.of(wait));
  }

  private Rollout.TurnView changedWithin(Rollout.TurnView known, Duration wait) {
    TurnTag before = TurnTag.of(known);
    long end = System.nanoTime() + wait.toNanos();
    Rollout.TurnView now = known;
    Duration left = wait;
    while (left.isPositive() && TurnTag.of(now).equals(before)) {
      now = settledWithin(now, left.compareTo(LOOK_EVERY) < 0 ? left : LOOK_EVERY);
      left = Duration.ofNanos(end - System.nanoTime());
    }
    return now;
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
