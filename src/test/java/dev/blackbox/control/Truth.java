package dev.blackbox.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What must be true, whoever does what when: a model of turns that knows only what clients were
 * told, what the agent was shown and what was recorded, in the order in which it happened. It
 * outlives the boots. What is wrong is kept, and the first of it is the verdict.
 */
final class Truth {

  /** What is known of a turn. */
  private static final class Known {
    boolean admitted;
    int starts;
    int runs;
    int calls;
    boolean running;
    boolean cancelWished;
    boolean unstoppable;
    @Nullable TurnSnapshot told;
  }

  private volatile @Nullable Ledger ledger;
  private volatile @Nullable Stage stage;
  private final List<String> wrongs = new ArrayList<>();

  @GuardedBy("this")
  private final Map<TurnKey, Known> turns = new LinkedHashMap<>();

  @GuardedBy("this")
  private final Map<TurnId, TurnKey> startedNotRun = new HashMap<>();

  @GuardedBy("this")
  private final Map<TurnId, TurnKey> atWork = new HashMap<>();

  @GuardedBy("this")
  private final Set<Long> aborted = new HashSet<>();

  @GuardedBy("this")
  private int commands;

  private final java.util.concurrent.locks.ReentrantLock recording =
      new java.util.concurrent.locks.ReentrantLock();

  /** The ledger of this boot. What the boot before was doing is gone, also its agents. */
  synchronized void opened(Ledger real, Stage current) {
    ledger = real;
    stage = current;
    startedNotRun.clear();
    atWork.clear();
    commands = 0;
    for (Known known : turns.values()) {
      known.running = false;
      known.calls = 0;
    }
  }

  Optional<String> verdict() {
    synchronized (this) {
      return wrongs.stream().findFirst();
    }
  }

  synchronized void wrong(String what) {
    wrongs.add(what);
  }

  private void require(boolean holds, String promise, Object what) {
    if (!holds) {
      wrong(promise + " " + what);
    }
  }

  private Ledger real() {
    Ledger open = ledger;
    if (open == null) {
      throw new IllegalStateException("no ledger is open");
    }
    return open;
  }

  /** As it is recorded now. Not to be called under the lock: others go on meanwhile. */
  private Optional<TurnSnapshot> row(TurnKey key) {
    Stage current = stage;
    Ledger open = real();
    return current == null ? open.reads().turn(key) : current.outside(() -> open.reads().turn(key));
  }

  @GuardedBy("this")
  private Known known(TurnKey key) {
    return turns.computeIfAbsent(key, _ -> new Known());
  }

  // ---- what is recorded ----

  /** A verb and what this class is told of it are one step, also where threads run in parallel. */
  <T> T recording(Supplier<T> verb) {
    recording.lock();
    try {
      return verb.get();
    } finally {
      recording.unlock();
    }
  }

  synchronized void admitted(TurnSnapshot turn) {
    Known known = known(turn.key());
    require(!known.admitted, "P2: a turn is new only once:", turn.key());
    require(
        !aborted.contains(turn.key().sessionKey()),
        "an aborted session takes no turn:",
        turn.key());
    known.admitted = true;
    turns.forEach(
        (key, other) ->
            require(
                key.sessionKey() != turn.key().sessionKey() || (!other.running && other.calls == 0),
                "P5: admitted while the agent still works on " + key + ":",
                turn.key()));
  }

  synchronized void started(TurnKey key) {
    Known known = known(key);
    known.starts++;
    require(known.starts == 1, "P2: started more than once:", key);
    startedNotRun.put(key.turnId(), key);
  }

  synchronized void settling(TurnKey key, TurnOutcome outcome) {
    Known known = known(key);
    if (outcome instanceof TurnOutcome.Cancelled) {
      require(!known.running, "cancelled while the agent still works on it:", key);
      require(known.calls == 0, "cancelled while its model calls are open:", key);
    }
    if (outcome instanceof TurnOutcome.Failed failed) {
      require(
          known.runs == 0,
          "called failed, although the agent saw it (" + failed.error().message() + "):",
          key);
    }
  }

  // ---- what the agent sees ----

  void runBegan(TurnId id, String prompt) {
    Optional<TurnKey> started = takeStarted(id);
    if (started.isEmpty()) {
      wrong("P2: the agent was given a turn that nobody started: " + id);
      return;
    }
    TurnKey key = started.get();
    beganToWork(id, key, StagedBackend.kindOf(prompt));
    Optional<TurnSnapshot> row = row(key);
    require(
        row.isPresent()
            && row.get().startedByBoot().isPresent()
            && row.get().requestJson().contains(prompt),
        "P1: the agent sees what is not recorded as started:",
        key);
  }

  private synchronized Optional<TurnKey> takeStarted(TurnId id) {
    return Optional.ofNullable(startedNotRun.remove(id));
  }

  private synchronized void beganToWork(TurnId id, TurnKey key, StagedBackend.Kind kind) {
    Known known = known(key);
    known.runs++;
    known.running = true;
    known.unstoppable = kind == StagedBackend.Kind.DEAF || kind == StagedBackend.Kind.LEAKY;
    require(known.runs == 1, "P2: the agent ran it again:", key);
    require(atWork.isEmpty(), "P5: the agent works already on " + atWork.values() + ":", key);
    require(commands == 0, "a command is at work in the workspace:", key);
    atWork.put(id, key);
  }

  synchronized void runEnded(TurnId id) {
    TurnKey key = atWork.remove(id);
    if (key != null) {
      known(key).running = false;
    }
  }

  synchronized void callBegan(TurnKey key) {
    Known known = known(key);
    known.calls++;
    require(known.running, "P8: a model call of a turn that does not run:", key);
  }

  synchronized void callEnded(TurnKey key) {
    known(key).calls--;
  }

  synchronized void commandBegan() {
    commands++;
    require(commands == 1, "two commands at once:", commands);
    require(atWork.isEmpty(), "a command runs while the agent works on", atWork.values());
  }

  synchronized void commandEnded() {
    commands--;
  }

  // ---- what clients are told ----

  /** What was told so far, to be compared with what is told later. */
  synchronized Map<TurnKey, TurnSnapshot> told() {
    Map<TurnKey, TurnSnapshot> told = new HashMap<>();
    turns.forEach(
        (key, known) -> {
          if (known.told != null) {
            told.put(key, known.told);
          }
        });
    return told;
  }

  /**
   * A client was told of a turn.
   *
   * @param before what had been told when it asked
   */
  void told(Map<TurnKey, TurnSnapshot> before, TurnSnapshot turn) {
    TurnSnapshot row = row(turn.key()).orElse(null);
    synchronized (this) {
      if (row == null || row.state().compareTo(turn.state()) < 0) {
        wrong("P1: told before it is recorded: " + turn.key() + " " + turn.state());
      }
      require(
          turn.state().isSettled() == turn.settlement().isPresent(),
          "a settlement belongs to a settled turn:",
          turn);
      Known known = known(turn.key());
      later(before.get(turn.key()), turn);
      if (known.told == null || turn.state().isSettled()) {
        later(known.told, turn);
        known.told = turn;
      }
    }
  }

  private synchronized void later(@Nullable TurnSnapshot earlier, TurnSnapshot now) {
    if (earlier == null) {
      return;
    }
    require(
        earlier.requestJson().equals(now.requestJson())
            && earlier.createdAt().equals(now.createdAt()),
        "P3: it is another turn than before:",
        now.key());
    if (earlier.state().isSettled()) {
      require(
          earlier.equals(now), "P4: settled as " + earlier.state() + " and now otherwise:", now);
    } else {
      require(
          now.state().isSettled() || now.state().compareTo(earlier.state()) >= 0,
          "it went back from " + earlier.state() + " to " + now.state() + ":",
          now.key());
    }
  }

  synchronized void cancelAcknowledged(TurnKey key) {
    known(key).cancelWished = true;
  }

  synchronized void abortAcknowledged(long sessionKey) {
    aborted.add(sessionKey);
  }

  // ---- what is true once nothing moves ----

  /**
   * Nobody has let the agents go, and nothing moves any more: now wishes are fulfilled. Those that
   * are not are named.
   */
  synchronized List<String> unfulfilledWishes() {
    List<String> wishes = new ArrayList<>();
    turns.forEach(
        (key, known) -> {
          if (known.cancelWished && !isSettled(key)) {
            wishes.add("a cancel that was acknowledged has no effect: " + key);
          }
          if (aborted.contains(key.sessionKey())) {
            if (!isSettled(key)) {
              wishes.add("not settled although its session is aborted: " + key);
            }
            if (known.running && !known.unstoppable) {
              wishes.add("its session is aborted and the agent works on: " + key);
            }
          }
        });
    return wishes;
  }

  /** Agents were let go, and nothing moves any more: everything has ended. */
  synchronized void checkEnd() {
    require(atWork.isEmpty(), "the agent never ended", atWork.values());
    require(commands == 0, "a command never ended:", commands);
    Set<Long> sessions = new HashSet<>();
    turns.forEach(
        (key, known) -> {
          sessions.add(key.sessionKey());
          Optional<TurnSnapshot> row = real().reads().turn(key);
          require(row.isPresent() || known.told == null, "P6: an acknowledged turn is lost:", key);
          row.ifPresent(turn -> require(turn.state().isSettled(), "never settled:", turn));
          row.ifPresent(turn -> later(known.told, turn));
        });
    sessions.forEach(this::checkSession);
  }

  /** Whether nothing is at work, and no turn is open. */
  synchronized boolean isAllSettled() {
    return atWork.isEmpty() && commands == 0 && turns.keySet().stream().allMatch(this::isSettled);
  }

  /** What is not settled, as it is recorded. */
  synchronized List<String> open() {
    Set<TurnKey> working = Set.copyOf(atWork.values());
    return turns.keySet().stream()
        .filter(key -> !isSettled(key))
        .map(key -> real().reads().turn(key) + (working.contains(key) ? " at work" : ""))
        .toList();
  }

  private boolean isSettled(TurnKey key) {
    return real().reads().turn(key).map(turn -> turn.state().isSettled()).orElse(true);
  }

  private void checkSession(long key) {
    SessionSnapshot session = real().reads().session(key).orElse(null);
    if (session == null) {
      wrong("P6: a session is lost: " + key);
      return;
    }
    Map<TurnState, Integer> counts = new HashMap<>();
    real().reads().forEachTurn(key, turn -> counts.merge(turn.state(), 1, Integer::sum));
    require(
        counts.getOrDefault(TurnState.COMMITTED, 0) == session.committedTurns(),
        "committed_turns is " + session.committedTurns() + " of",
        counts);
    require(
        session.state() != SessionState.ACTIVE || !counts.containsKey(TurnState.UNKNOWN),
        "an active session has a turn of which nothing is known:",
        counts);
    require(
        session.state() == SessionState.ACTIVE || !session.stateReason().isBlank(),
        "a session that takes no turns has no reason:",
        session);
  }

  /** The events of a stretch have no gaps, and each turn's are in the order of its states. */
  void checkEvents(List<LedgerFacts.Event> events) {
    Map<String, List<String>> ofTurns = new HashMap<>();
    long sequence = events.isEmpty() ? 0 : events.getFirst().sequence();
    for (LedgerFacts.Event event : events) {
      require(event.sequence() == sequence++, "P11: a gap before event", event.sequence());
      if (event.turnId().isPresent() && event.type().startsWith("turn")) {
        ofTurns
            .computeIfAbsent(
                event.sessionKey() + " " + event.turnId().get(), _ -> new ArrayList<>())
            .add(event.type());
      }
    }
    ofTurns.forEach(
        (turn, types) ->
            require(
                String.join(" ", types)
                    .matches("(turn_queued)?( ?turn_(cancel_requested|started))*( ?turn_settled)?"),
                "P4: the events of " + turn + " are",
                types));
  }
}
