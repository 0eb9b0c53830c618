package dev.blackbox.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.control.Rollout.PauseView;
import dev.blackbox.control.Rollout.ResumeView;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.proxy.ControlCallException;
import dev.blackbox.proxy.ModelProxy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Pause and resume. Two states, running and paused; each call either reaches the other or leaves
 * the one it found, and an error says which. Calls are served one after the other; a pause is in
 * the ledger before it is told, so it survives a restart.
 */
final class PauseControl {

  private static final System.Logger LOG = System.getLogger(PauseControl.class.getName());

  /** Added to the time that the caller gives the engine, for the way there and back. */
  private static final Duration TRAVEL = Duration.ofSeconds(5);

  private final Ledger ledger;
  private final ModelProxy proxy;
  private final PauseClock clock;
  private final Duration controlCallWithin;
  private final Semaphore oneAtATime = new Semaphore(1, true);
  private volatile LedgerFacts.Pause standing = LedgerFacts.Pause.NONE;

  /** How many bindings there were: who began under an earlier one changes nothing any more. */
  @GuardedBy("this")
  private long bindings;

  PauseControl(Ledger ledger, ModelProxy proxy, PauseClock clock, Duration controlCallWithin) {
    this.ledger = ledger;
    this.proxy = proxy;
    this.clock = clock;
    this.controlCallWithin = controlCallWithin;
  }

  LedgerFacts.Pause standing() {
    return standing;
  }

  /** At boot, where paused stays paused, and after a call that changed something, or failed to. */
  synchronized void restore(LedgerFacts.Pause pause) {
    standing = pause;
    if (pause.paused()) {
      proxy.hold();
      clock.pause();
    } else {
      clock.resume();
      proxy.release(pause.version());
    }
  }

  /** A new binding starts running, and knows no version, whatever call is still under way. */
  synchronized void reset() {
    bindings++;
    restore(LedgerFacts.Pause.NONE);
  }

  private synchronized long bindings() {
    return bindings;
  }

  /** Nothing is let through from now on, if the binding is still the one that was meant. */
  private synchronized void hold(long ofBinding) {
    if (ofBinding == bindings) {
      proxy.hold();
      clock.pause();
    }
  }

  /** As {@link #restore}, unless the binding was replaced meanwhile: then the new one's stands. */
  private synchronized void become(LedgerFacts.Pause pause, long ofBinding) {
    if (ofBinding == bindings) {
      restore(pause);
    } else {
      LOG.log(System.Logger.Level.INFO, "a pause or resume came too late for its binding");
    }
  }

  PauseView pause(LiveBinding binding, String reason, Optional<Double> timeoutSeconds)
      throws InterruptedException {
    Duration within =
        timeoutSeconds
            .map(seconds -> Durations.ofSeconds(seconds).plus(TRAVEL))
            .orElse(controlCallWithin);
    acquire(within);
    long ofBinding = bindings();
    LedgerFacts.Pause before = standing;
    LedgerFacts.Pause after = before;
    try {
      hold(ofBinding);
      Map<String, @Nullable Object> answer =
          callUpstream(() -> proxy.pauseUpstream(reason, timeoutSeconds, within), before);
      if (Boolean.FALSE.equals(answer.get("quiesced"))) {
        Map<String, @Nullable Object> details = new LinkedHashMap<>(answer);
        details.put("paused", before.paused());
        throw Problem.of(
            ErrorCode.PAUSE_TIMEOUT,
            "The engine did not come to rest in time. "
                + stateIs(before)
                + " Pause again, or resume the engine.",
            details);
      }
      LedgerFacts.Pause paused = new LedgerFacts.Pause(true, reason, before.version());
      record(binding, paused, before);
      after = paused;
      return view(answer, before, reason);
    } finally {
      become(after, ofBinding);
      oneAtATime.release();
    }
  }

  ResumeView resume(LiveBinding binding, String reason, Optional<String> version)
      throws InterruptedException {
    acquire(controlCallWithin);
    long ofBinding = bindings();
    LedgerFacts.Pause before = standing;
    try {
      Map<String, @Nullable Object> answer =
          callUpstream(() -> proxy.resumeUpstream(reason, version, controlCallWithin), before);
      LedgerFacts.Pause running = new LedgerFacts.Pause(false, "", version.or(before::version));
      record(binding, running, before);
      become(running, ofBinding);
      Map<String, @Nullable Object> details = new LinkedHashMap<>(answer);
      details.putIfAbsent("status", before.paused() ? "resumed" : "already_running");
      details.putIfAbsent("reason", reason);
      details.putIfAbsent("version", running.version().orElse(null));
      details.put("http_inflight_requests", proxy.callsInFlight());
      return new ResumeView(
          String.valueOf(details.get("status")),
          String.valueOf(details.get("reason")),
          details.get("version"),
          details);
    } finally {
      oneAtATime.release();
    }
  }

  /** The engine has done it; if the ledger cannot say so, neither do we. */
  private void record(LiveBinding binding, LedgerFacts.Pause pause, LedgerFacts.Pause before) {
    try {
      ledger.pause(binding.runtimeId(), pause);
    } catch (Problem unrecorded) {
      Map<String, @Nullable Object> details = new LinkedHashMap<>(unrecorded.details());
      details.put("paused", before.paused());
      throw new Problem(
          unrecorded.code(),
          unrecorded.text()
              + " "
              + stateIs(before)
              + " The engine has "
              + (pause.paused() ? "paused." : "resumed."),
          details,
          unrecorded);
    }
  }

  private PauseView view(
      Map<String, @Nullable Object> answer, LedgerFacts.Pause before, String reason) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>(answer);
    details.putIfAbsent("status", before.paused() ? "already_paused" : "paused");
    details.putIfAbsent("reason", reason);
    details.put("http_inflight_requests", proxy.callsInFlight());
    return new PauseView(
        String.valueOf(details.get("status")),
        String.valueOf(details.get("reason")),
        true,
        details.get("version"),
        details);
  }

  private void acquire(Duration within) throws InterruptedException {
    if (!oneAtATime.tryAcquire(within.toMillis(), TimeUnit.MILLISECONDS)) {
      throw Problem.unavailable(
          "Another pause or resume is still under way. " + stateIs(standing),
          Map.of("paused", standing.paused()));
    }
  }

  private static Map<String, @Nullable Object> callUpstream(
      ControlCall call, LedgerFacts.Pause before) {
    try {
      return call.make();
    } catch (ControlCallException failure) {
      throw new Problem(
          ErrorCode.BACKEND_ERROR,
          failure.getMessage() + " " + stateIs(before),
          Map.of("paused", before.paused()),
          failure);
    }
  }

  private static String stateIs(LedgerFacts.Pause pause) {
    return pause.paused() ? "The server is paused." : "The server is not paused.";
  }

  private interface ControlCall {
    Map<String, @Nullable Object> make() throws ControlCallException;
  }
}
