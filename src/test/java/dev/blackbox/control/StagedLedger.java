package dev.blackbox.control;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerFacts.Admission;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Work;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A real ledger of which each verb and each read is a step of the stage, and tells {@link Truth} of
 * what is recorded. Can be down for some verbs, and can have a {@link Planted} fault.
 */
final class StagedLedger {

  private static final Set<String> UNSTAGED = Set.of("isClosed", "boot", "id");

  /** Verbs without which no boot comes about: they do not fail. */
  private static final Set<String> SURE = Set.of("recover", "close");

  /** A mistake that the model test must find. */
  enum Planted {
    NOTHING,
    /** By the next look at it, a settled turn has failed once more. */
    SETTLES_TWICE,
    /** A retry of a turn that has no answer runs it again. */
    RUNS_AGAIN,
    /** A turn is called cancelled as soon as somebody asks for it. */
    CANCELS_EARLY,
    /** A turn whose end could not be proved is called cancelled. */
    CANCELS_UNPROVED,
    /** The agent is shown a turn whose start is not recorded. */
    STARTS_UNRECORDED,
    /** After a restart the ledger is the one of a while ago; the world sees to it. */
    FORGETS_AT_REOPEN
  }

  private final Ledger real;
  private final Stage stage;
  private final Truth truth;
  private final Planted planted;
  private final Map<TurnKey, TurnOutcome> settledSince = new ConcurrentHashMap<>();
  private final Map<TurnKey, TurnOutcome> overwritten = new ConcurrentHashMap<>();

  /** So many verbs from now on fail and record nothing. */
  final AtomicInteger down = new AtomicInteger();

  StagedLedger(Ledger real, Stage stage, Truth truth, Planted planted) {
    this.real = real;
    this.stage = stage;
    this.truth = truth;
    this.planted = planted;
  }

  /** The ledger as the control room sees it. */
  Ledger asLedger() {
    LedgerReads reads =
        proxied(LedgerReads.class, (_, read, args) -> read(read, args == null ? none() : args));
    return proxied(
        Ledger.class,
        (_, verb, args) ->
            verb.getName().equals("reads") ? reads : verb(verb, args == null ? none() : args));
  }

  private static <T> T proxied(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Object[] none() {
    return new Object[0];
  }

  private @Nullable Object read(Method read, Object[] args) {
    stage.step();
    overwritten.putAll(settledSince);
    Object result = stage.outside(() -> call(real.reads(), read, args));
    return shown(result);
  }

  private @Nullable Object verb(Method verb, Object[] args) {
    String name = verb.getName();
    if (UNSTAGED.contains(name)) {
      return call(real, verb, args);
    }
    stage.step();
    if (!SURE.contains(name) && !verb.isDefault() && down.get() > 0) {
      down.decrementAndGet();
      stage.expectTimers();
      throw Problem.unavailable("The ledger is down for a while.", Map.of());
    }
    Object result = shown(stage.outside(() -> truth.recording(() -> recorded(name, verb, args))));
    stage.step();
    return result;
  }

  private @Nullable Object recorded(String name, Method verb, Object[] args) {
    return switch (name) {
      case "admit" -> admitted(real.admit((LedgerFacts.Admit) args[0]));
      case "start" -> started((TurnKey) args[0]);
      case "settle" -> settled((TurnKey) args[0], (TurnOutcome) args[1]);
      case "requestCancel" -> cancelRequested((TurnKey) args[0]);
      default -> call(real, verb, args);
    };
  }

  private Admission admitted(Admission admission) {
    Admission result = admission;
    if (planted == Planted.RUNS_AGAIN
        && admission instanceof Admission.Known(TurnSnapshot turn)
        && turn.settlement().isPresent()
        && !turn.state().equals(TurnState.COMMITTED)) {
      result = new Admission.Fresh(turn);
    }
    if (result instanceof Admission.Fresh(TurnSnapshot turn)) {
      truth.admitted(turn);
    }
    return result;
  }

  private boolean started(TurnKey key) {
    boolean won =
        switch (planted) {
          case STARTS_UNRECORDED -> true;
          case RUNS_AGAIN -> startedAgain(key);
          default -> real.start(key);
        };
    if (won) {
      truth.started(key);
    }
    return won;
  }

  private boolean startedAgain(TurnKey key) {
    boolean _ = real.start(key);
    return true;
  }

  private TurnSnapshot settled(TurnKey key, TurnOutcome outcome) {
    TurnOutcome ours = outcome;
    if (planted == Planted.CANCELS_UNPROVED
        && outcome instanceof TurnOutcome.Unknown(TurnError error, Work work)
        && error.message().contains("cancelled")) {
      ours = new TurnOutcome.Cancelled(error, work);
    }
    truth.settling(key, ours);
    if (planted == Planted.SETTLES_TWICE) {
      TurnError error = new TurnError(ErrorCode.INTERNAL_ERROR, "once more", Map.of());
      settledSince.put(key, new TurnOutcome.Failed(error, Work.NONE));
    }
    return real.settle(key, ours);
  }

  private TurnSnapshot cancelRequested(TurnKey key) {
    TurnSnapshot turn = real.requestCancel(key);
    if (planted == Planted.CANCELS_EARLY && turn.state() == TurnState.INFLIGHT) {
      TurnError error = new TurnError(ErrorCode.CANCELLED, "at once", Map.of());
      return settled(key, new TurnOutcome.Cancelled(error, Work.NONE));
    }
    return turn;
  }

  private @Nullable Object shown(@Nullable Object result) {
    if (overwritten.isEmpty()) {
      return result;
    }
    if (result instanceof Optional<?> some && some.isPresent()) {
      return Optional.ofNullable(shown(some.get()));
    }
    if (result instanceof TurnSnapshot turn && overwritten.containsKey(turn.key())) {
      return withOutcome(turn, overwritten.get(turn.key()));
    }
    return result;
  }

  private static TurnSnapshot withOutcome(TurnSnapshot turn, TurnOutcome outcome) {
    return new TurnSnapshot(
        turn.key(),
        turn.sessionId(),
        turn.instanceId(),
        turn.backendType(),
        outcome.state(),
        turn.fingerprint(),
        turn.requestJson(),
        turn.cancelRequested(),
        turn.settlement().map(old -> new TurnSnapshot.Settlement(outcome, old.sessionState())),
        turn.createdAt(),
        turn.updatedAt(),
        turn.queuedByBoot(),
        turn.startedByBoot());
  }

  private static @Nullable Object call(Object target, Method method, Object[] args) {
    try {
      return method.invoke(target, args);
    } catch (InvocationTargetException failed) {
      if (failed.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(failed.getCause());
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
