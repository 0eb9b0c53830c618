package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Secret;
import dev.blackbox.turn.TurnKey;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** {@link TurnScope}: admits calls, counts them, and remembers what they met. */
final class OpenTurn implements TurnScope {

  /** Whether a call may come in. */
  sealed interface Admission {

    /**
     * It is to be made, as the step that it names.
     *
     * @param resent if its agent sent it before, and it is no step of its own
     */
    record Admitted(OpenTurn turn, KnownCall call, Optional<CallSink.Resent> resent)
        implements Admission {}

    /** Its agent sent it before, and is told what the first call is told. */
    record Repeated(OpenTurn turn, KnownCall first, CallSink.Resent resent) implements Admission {}

    /** The budget is used up. */
    record OverBudget(int stepsMax) implements Admission {}

    /**
     * An engine said that the rollout is void, so that nobody wants what would come of the call.
     */
    record Voided(Verdict.RolloutInvalidated why) implements Admission {}

    /** The turn is over. */
    record Closed() implements Admission {}
  }

  private static final System.Logger LOG = System.getLogger(OpenTurn.class.getName());

  /** Ended calls are gone within milliseconds; a longer wait means a bug, and is logged. */
  private static final Duration CLOSING_MAX = Duration.ofSeconds(2);

  private final TurnKey key;
  private final Secret agentKey;
  private final Map<String, String> trace;
  private final OptionalInt stepsMax;
  private final KnownCalls calls;
  private final Desk desk;
  private final CompletableFuture<Verdict> stopDemanded = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition callLeft = lock.newCondition();

  @GuardedBy("lock")
  private final Set<Visit> admitted = new HashSet<>();

  @GuardedBy("lock")
  private int parked;

  @GuardedBy("lock")
  private boolean closed;

  @GuardedBy("lock")
  private CallTotals totals = new CallTotals(0, 0, 0, 0, 0);

  @GuardedBy("lock")
  private @Nullable Verdict gravest;

  OpenTurn(
      TurnKey key,
      Secret agentKey,
      Map<String, String> trace,
      OptionalInt stepsMax,
      KnownCalls calls,
      Desk desk) {
    this.key = key;
    this.agentKey = agentKey;
    this.trace = Map.copyOf(trace);
    this.stepsMax = stepsMax;
    this.calls = calls;
    this.desk = desk;
  }

  @Override
  public TurnKey key() {
    return key;
  }

  @Override
  public Secret agentKey() {
    return agentKey;
  }

  /** The turn's place in its caller's trace, as headers. */
  Map<String, String> trace() {
    return trace;
  }

  @Override
  public CompletableFuture<Verdict> stopDemanded() {
    return stopDemanded;
  }

  @Override
  public Optional<Verdict> verdict() {
    lock.lock();
    try {
      return Optional.ofNullable(gravest);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CallTotals totals() {
    lock.lock();
    try {
      return totals;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int callsInFlight() {
    lock.lock();
    try {
      return admitted.size() - parked;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean drain(Duration within) throws InterruptedException {
    lock.lock();
    try {
      long left = within.toNanos();
      while (admitted.size() > parked && left > 0) {
        left = callLeft.awaitNanos(left);
      }
      return admitted.size() <= parked;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Set<Visit> cutOff;
    lock.lock();
    try {
      closed = true;
      cutOff = new HashSet<>(admitted);
    } finally {
      lock.unlock();
    }
    desk.closed(this);
    cutOff.forEach(visit -> visit.end(Visit.Ending.TURN_CLOSED));
    awaitTheirLeaving();
  }

  /**
   * Lets a call in and counts it, or not. Over the budget, the demand to stop is made before this
   * returns, and so before the agent hears of it.
   */
  Admission admit(Visit visit, Question question) {
    Verdict exceeded;
    lock.lock();
    try {
      if (closed) {
        return new Admission.Closed();
      }
      if (gravest instanceof Verdict.RolloutInvalidated invalidated) {
        return new Admission.Voided(invalidated);
      }
      Optional<Admission> known =
          calls.find(question).flatMap(call -> again(call, question, visit));
      if (known.isPresent()) {
        admitted.add(visit);
        return known.get();
      }
      int step = Math.toIntExact(totals.steps());
      if (stepsMax.isEmpty() || step < stepsMax.getAsInt()) {
        totals =
            new CallTotals(
                step + 1L,
                totals.promptTokens(),
                totals.completionTokens(),
                totals.reasoningTokens(),
                totals.toolCalls());
        admitted.add(visit);
        return new Admission.Admitted(this, calls.add(question, step, 0, visit), Optional.empty());
      }
      exceeded = new Verdict.StepsExceeded(stepsMax.getAsInt(), step);
      metLocked(exceeded);
    } finally {
      lock.unlock();
    }
    stopDemanded.complete(exceeded);
    return new Admission.OverBudget(stepsMax.getAsInt());
  }

  /**
   * A question that was asked before. What its SDK marks as a retry is one; of what nobody marks,
   * that which follows a failure. Empty if it is a call like any other.
   */
  @GuardedBy("lock")
  private Optional<Admission> again(KnownCall before, Question question, Visit visit) {
    Optional<String> verdict = before.tape().verdict();
    boolean failed = verdict.filter(known -> !known.equals("ok")).isPresent();
    if (!calls.mayBeSentAgain(before) || !(question.isMarked() || failed)) {
      return Optional.empty();
    }
    if (before.tape().canBeReplayed()) {
      return Optional.of(
          new Admission.Repeated(this, before, new CallSink.Resent(before.callId(), "replayed")));
    }
    if (verdict.isEmpty() && before.tape().canBeFollowed() && before.visit().follow()) {
      return Optional.of(
          new Admission.Repeated(this, before, new CallSink.Resent(before.callId(), "joined")));
    }
    KnownCall call = calls.add(question, before.step(), before.retries() + 1, visit);
    return Optional.of(
        new Admission.Admitted(
            this, call, Optional.of(new CallSink.Resent(before.callId(), "again"))));
  }

  void parked() {
    lock.lock();
    try {
      parked++;
      callLeft.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void unparked() {
    lock.lock();
    try {
      parked--;
    } finally {
      lock.unlock();
    }
  }

  /** A call met something grave. */
  void met(Verdict verdict) {
    lock.lock();
    try {
      metLocked(verdict);
    } finally {
      lock.unlock();
    }
  }

  /** A call went well, which makes up for failures before it. */
  void succeeded() {
    lock.lock();
    try {
      if (gravest instanceof Verdict.UpstreamFailed) {
        gravest = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Adds what a call used. */
  void add(CallSink.CallEnded call) {
    // A guess is no usage.
    boolean reported = !call.tokensEstimated();
    // Of an answer that is not whole, no tool call was let out.
    int toolCalls = call.verdict().equals("ok") ? call.toolCalls() : 0;
    lock.lock();
    try {
      totals =
          new CallTotals(
              totals.steps(),
              totals.promptTokens() + (reported ? call.promptTokens().orElse(0) : 0),
              totals.completionTokens() + (reported ? call.completionTokens().orElse(0) : 0),
              totals.reasoningTokens() + call.reasoningTokens().orElse(0),
              totals.toolCalls() + toolCalls);
    } finally {
      lock.unlock();
    }
  }

  /** The call is over, and recorded. */
  void leave(Visit visit) {
    lock.lock();
    try {
      admitted.remove(visit);
      callLeft.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void metLocked(Verdict verdict) {
    if (gravest == null || rank(verdict) <= rank(gravest)) {
      gravest = verdict;
    }
  }

  /** 0 is the gravest. Source: the order in which the reference server's backends ask. */
  private static int rank(Verdict verdict) {
    return switch (verdict) {
      case Verdict.StepsExceeded _ -> 0;
      case Verdict.ContextOverflow _ -> 1;
      case Verdict.RolloutInvalidated _ -> 2;
      case Verdict.UpstreamFailed _ -> 3;
    };
  }

  private void awaitTheirLeaving() {
    lock.lock();
    try {
      long left = CLOSING_MAX.toNanos();
      while (!admitted.isEmpty() && left > 0) {
        left = callLeft.awaitNanos(left);
      }
      if (!admitted.isEmpty()) {
        LOG.log(
            System.Logger.Level.WARNING,
            "{0} ended model calls of turn {1} are not over after {2} s",
            admitted.size(),
            key.turnId(),
            TimeUnit.NANOSECONDS.toSeconds(CLOSING_MAX.toNanos()));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
