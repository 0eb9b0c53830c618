package dev.blackbox.http;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How long the sender of a submission waits for its result: what {@code mode} and {@code Prefer}
 * say together.
 *
 * @param async whether it takes a 202 at all
 * @param waiting empty: as long as it takes; else for so many seconds, and then for a 202
 * @param preferenceApplied the value of {@code Preference-Applied}, if a preference was followed
 */
record Pace(boolean async, OptionalInt waiting, Optional<String> preferenceApplied) {

  static Pace of(RequestHeaders headers, Optional<String> mode, int waitSecondsMax) {
    // A mode that is spelled out is a contract, and no wish changes it into the other.
    boolean sync = mode.filter("sync"::equals).isPresent();
    Preferences wishes = sync ? Preferences.NONE : Preferences.of(headers);
    boolean async = mode.filter("async"::equals).isPresent() || wishes.respondAsync();
    OptionalInt wait = wishes.waitSeconds(waitSecondsMax);
    return new Pace(
        async,
        async && wait.isEmpty() ? OptionalInt.of(0) : wait,
        Preferences.applied(wishes.respondAsync(), wait));
  }

  /** True unless the 202 is wanted at once. */
  boolean waits() {
    return waiting.isEmpty() || waiting.getAsInt() > 0;
  }

  /** How long to wait; empty: as long as it takes. */
  Optional<Duration> within() {
    return waiting.isEmpty()
        ? Optional.empty()
        : Optional.of(Duration.ofSeconds(waiting.getAsInt()));
  }

  /** Whether the result is the answer, and not a 202. */
  boolean endsWithResult(boolean settled) {
    return waits() && (waiting.isEmpty() || settled);
  }

  /** The answer with the headers that say what was done. */
  Answer finish(Answer answer, boolean replay) {
    Answer told =
        preferenceApplied.isPresent()
            ? answer.with("preference-applied", preferenceApplied.get())
            : answer;
    return replay ? told.with("idempotent-replayed", "true") : told;
  }
}
