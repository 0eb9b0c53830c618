package dev.blackbox.http;

import dev.blackbox.kernel.Resource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A poll of something that settles: what {@code wait}, {@code Prefer} and {@code If-None-Match} ask
 * for.
 *
 * @param longest how long to wait at most
 * @param known the tags that the client has; empty: none
 * @param preferred what of {@code Prefer} is followed
 */
record Poll(Duration longest, String known, OptionalInt preferred) {

  /**
   * How often a poll that waits for any change looks whether it has started; that it has settled is
   * told at once.
   */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  /** Something that settles, as it is at one moment. */
  interface Subject<V extends Subject<V>> {
    boolean settled();

    Tag tag();

    /** Waits until it is settled or the time is over. */
    V await(Duration within);

    Map<String, ?> answer();
  }

  static Poll of(Call call, int waitSecondsMax) {
    Faults faults = new Faults();
    Optional<Duration> asked = call.query().seconds("wait", waitSecondsMax, faults);
    faults.throwIfAny();
    OptionalInt wish = Preferences.of(call.headers()).waitSeconds(waitSecondsMax);
    boolean wished = asked.isEmpty() && wish.isPresent();
    return new Poll(
        wished ? Duration.ofSeconds(wish.getAsInt()) : asked.orElse(Duration.ZERO),
        call.headers().joined("if-none-match"),
        wished ? wish : OptionalInt.empty());
  }

  <V extends Subject<V>> Answer answer(V first, Limits limits) {
    V view = first;
    boolean waits = known.isEmpty() || view.tag().isIn(known);
    if (waits && longest.isPositive() && !view.settled()) {
      try (Resource _ = limits.longPoll()) {
        view = known.isEmpty() ? view.await(longest) : changedWithin(view);
      }
    }
    Tag tag = view.tag();
    Answer answer = tag.isIn(known) ? new Answer.Unchanged(Map.of()) : Answer.ok(view.answer());
    answer = answer.with("etag", tag.value());
    Optional<String> applied = Preferences.applied(false, preferred);
    return applied.isPresent() ? answer.with("preference-applied", applied.get()) : answer;
  }

  private <V extends Subject<V>> V changedWithin(V before) {
    long end = System.nanoTime() + longest.toNanos();
    V now = before;
    Duration left = longest;
    while (left.isPositive() && now.tag().equals(before.tag())) {
      now = now.await(left.compareTo(LOOK_EVERY) < 0 ? left : LOOK_EVERY);
      left = Duration.ofNanos(end - System.nanoTime());
    }
    return now;
  }
}
