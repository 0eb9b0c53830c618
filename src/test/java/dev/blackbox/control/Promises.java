package dev.blackbox.control;

import dev.blackbox.control.WritePoints.Known;
import dev.blackbox.control.WritePoints.Told;
import dev.blackbox.control.WritePoints.ToldCommand;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerFacts.CallEnded;
import dev.blackbox.ledger.LedgerFacts.CallRecord;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * The promises P1 to P11 as code, over a successor: its ledger, its agent's and its shell's own
 * record of what they did, and what clients had been told before. Waits are bounded, and longer
 * than all retries of a model call together.
 */
final class Promises {

  /** The proxy's retries take up to 9.4 s ({@code ProxyConfig.DEFAULTS}), the agent asks thrice. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final ControlRig rig;
  private final LedgerReads reads;
  private final Known known;
  private final List<String> broken = new ArrayList<>();

  private Promises(ControlRig rig, Known known) {
    this.rig = rig;
    this.reads = rig.ledger.reads();
    this.known = known;
  }

  /** What is broken; empty if all are kept. The successor has done all that was left afterwards. */
  static List<String> broken(ControlRig successor, Path commands, Known known) {
    Promises promises = new Promises(successor, known);
    try {
      promises.check(commands);
    } catch (ConditionTimeoutException never) {
      promises.broken.add("P6, something never ends: " + never.getMessage());
    }
    return promises.broken;
  }

  /** Waits, looking more often than Awaitility does unless it is told. */
  static void until(String what, java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await(what)
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(condition);
  }

  private void check(Path commands) {
    known.turns().forEach(this::isThere);
    known.commands().forEach(this::isThere);
    pauseStands();
    for (SessionSnapshot session : sessions()) {
      turns(session).forEach(this::settle);
      reads.commands(session.key(), 0, 100).forEach(this::settle);
    }
    known.turns().forEach(this::isReplayed);
    List<String> runs = new ArrayList<>(known.runs());
    runs.addAll(rig.backend.runs);
    onceEach("the prompt", runs);
    onceEach("the command", WritePoints.lines(commands));
    sessions().forEach(this::session);
    if (!reads.leftProcesses().isEmpty()) {
      broken.add("P7, processes of an earlier boot are left: " + reads.leftProcesses());
    }
    reads.verify().problems().forEach(problem -> broken.add("P11, " + problem));
    bound();
  }

  private List<SessionSnapshot> sessions() {
    List<SessionSnapshot> sessions = new ArrayList<>();
    for (long key = 1; reads.session(key).isPresent(); key++) {
      sessions.add(reads.session(key).orElseThrow());
    }
    return sessions;
  }

  private List<TurnSnapshot> turns(SessionSnapshot session) {
    List<TurnSnapshot> turns = new ArrayList<>();
    reads.forEachTurn(session.key(), turns::add);
    return turns;
  }

  /** P1 and P4: what was told is there, and the same. */
  private void isThere(Told told) {
    Optional<TurnSnapshot> found = reads.turn(told.key());
    if (found.isEmpty()) {
      broken.add("P1, " + told.key() + " was accepted and is gone");
    } else if (told.outcome().isPresent()
        && !found.get().settlement().map(end -> end.outcome()).equals(told.outcome())) {
      broken.add("P4, " + told.key() + " ended otherwise than was told");
    }
  }

  private void isThere(ToldCommand told) {
    Optional<CommandSnapshot> found = reads.command(told.sessionKey(), told.id());
    if (found.isEmpty()) {
      broken.add("P1, command " + told.id() + " was accepted and is gone");
    } else if (told.resultJson().isPresent()
        && !found.get().resultJson().equals(told.resultJson())) {
      broken.add("P4, command " + told.id() + " ended otherwise than was told");
    }
  }

  private void pauseStands() {
    boolean paused = rig.control.pauseState().paused();
    if (known.paused() && !paused) {
      broken.add("P1, a pause was told and is gone");
    }
    if (paused) {
      rig.control.resume("checked", Optional.empty());
    }
  }

  /** P6: whatever was left ends, as itself or as unknown. */
  private void settle(TurnSnapshot turn) {
    if (!turn.state().isSettled() && turn.requestJson().contains("\"block\"")) {
      String id = turn.key().turnId().value();
      until("the run of " + turn.key(), () -> !rig.backend.runs.isEmpty() || isSettled(turn));
      rig.control.cancel(ControlRig.SESSION, id);
    }
    until("turn " + turn.key(), () -> isSettled(turn));
  }

  private boolean isSettled(TurnSnapshot turn) {
    return reads.turn(turn.key()).orElseThrow().state().isSettled();
  }

  private void settle(CommandSnapshot command) {
    until(
        "command " + command.number(),
        () -> reads.command(command.number()).orElseThrow().state().isSettled());
  }

  /** P3: replayed from now on, as it is recorded, whatever the server's state. */
  private void isReplayed(Told told) {
    String id = told.key().turnId().value();
    if (reads.turn(told.key()).isEmpty() || !isBound(told)) {
      return;
    }
    Rollout.Submission again = rig.submit(id, told.prompt());
    if (!again.replay()
        || !again.turn().settlement().equals(reads.turn(told.key()).orElseThrow().settlement())) {
      broken.add("P3, " + told.key() + " is not replayed: " + again);
    }
  }

  private boolean isBound(Told told) {
    try {
      return rig.control
          .turn(ControlRig.SESSION, told.key().turnId().value())
          .turn()
          .key()
          .equals(told.key());
    } catch (Problem ofAnOlderSession) {
      return false;
    }
  }

  /** P2, by what was done outside of the ledger, by both servers together. */
  private void onceEach(String what, List<String> done) {
    Map<String, Integer> counts = new HashMap<>();
    done.forEach(one -> counts.merge(one, 1, Integer::sum));
    counts.forEach(
        (one, count) -> {
          if (count > 1) {
            broken.add("P2, " + what + " " + one + " was run " + count + " times");
          }
        });
  }

  private void session(SessionSnapshot session) {
    List<TurnSnapshot> turns = turns(session);
    long active = turns.stream().filter(turn -> !turn.state().isSettled()).count();
    if (active > 1) {
      broken.add("P5, " + active + " turns of session " + session.key() + " are active");
    }
    long committed = turns.stream().filter(turn -> turn.state() == TurnState.COMMITTED).count();
    if (committed != session.committedTurns()) {
      broken.add(
          "P11, session " + session.key() + " counts " + session.committedTurns() + " answers");
    }
    if (committed > WritePoints.TURNS_MAX) {
      broken.add("P10, session " + session.key() + " has " + committed + " answers");
    }
    turns.stream().filter(turn -> turn.state().isSettled()).forEach(this::calls);
  }

  /** P8 and P9: calls are those of turns that made some, they have ends, and tell the truth. */
  private void calls(TurnSnapshot turn) {
    List<CallRecord> calls = reads.calls(turn.key());
    boolean asks = turn.requestJson().contains("\"call\"");
    boolean isCutOff = turn.requestJson().contains("\"cut\"");
    if (!calls.isEmpty() && !asks && !isCutOff) {
      broken.add("P8, " + turn.key() + " has a model call that it did not make");
    }
    if (calls.stream().anyMatch(call -> call.end().isEmpty())) {
      broken.add("P8, " + turn.key() + " is settled and has an open model call");
    }
    List<String> verdicts =
        calls.stream().flatMap(call -> call.end().stream()).map(CallEnded::verdict).toList();
    if (isCutOff && (turn.state() == TurnState.COMMITTED || verdicts.contains("ok"))) {
      broken.add("P9, " + turn.key() + " counts a stream that was cut as a success");
    }
    if (asks && turn.state() == TurnState.COMMITTED && !verdicts.contains("ok")) {
      broken.add("P9, " + turn.key() + " is answered without an answer of its model: " + verdicts);
    }
  }

  /** P10: a session that has all its turns gets a clear answer, after a crash too. */
  private void bound() {
    Optional<SessionSnapshot> session =
        sessions().stream()
            .filter(one -> one.id().value().equals(ControlRig.SESSION))
            .reduce((_, newest) -> newest)
            .filter(newest -> newest.committedTurns() >= WritePoints.TURNS_MAX);
    if (session.isEmpty()) {
      return;
    }
    try {
      rig.submit("beyond", "one too many");
      broken.add("P10, a turn beyond the limit was admitted");
    } catch (Problem refused) {
      if (refused.code() != ErrorCode.TOO_MANY_REQUESTS) {
        broken.add("P10, a turn beyond the limit was refused as " + refused.code());
      }
    }
  }
}
