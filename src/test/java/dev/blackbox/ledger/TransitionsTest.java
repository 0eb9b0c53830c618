package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Work;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Walks every move of both state machines through the ledger, and tries every other one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TransitionsTest {

  private record Move<S>(S from, S to) {}

  private Ledger ledger;
  private int sessions;

  @BeforeAll
  void open(@TempDir Path temp) throws LedgerRefusedException {
    ledger = Ledgers.open(temp.resolve("state"));
  }

  @AfterAll
  void close() {
    ledger.close();
  }

  private long session() {
    return Ledgers.session(ledger, "sess-" + ++sessions);
  }

  @Test
  void p4EveryMoveOfATurnThatIsListedHappensAndNoOtherDoes() {
    Set<Move<TurnState>> walked = new HashSet<>();
    for (TurnState from : TurnState.values()) {
      for (TurnState to : TurnState.values()) {
        if (to == TurnState.QUEUED) {
          // Only admission makes queued turns, and it answers a known id with what is there.
          continue;
        }
        TurnKey key = turnThatIs(from);
        TurnSnapshot before = ledger.reads().turn(key).orElseThrow();
        boolean moved = moves(key, to);
        TurnSnapshot after = ledger.reads().turn(key).orElseThrow();
        assertThat(moved).as("%s to %s", from, to).isEqualTo(from.mayBecome(to));
        if (moved) {
          assertThat(after.state()).isEqualTo(to);
          walked.add(new Move<>(from, to));
        } else {
          assertThat(after).isEqualTo(before);
        }
      }
    }
    assertThat(walked).isEqualTo(listed(TurnState.MOVES));
  }

  @Test
  void everyMoveOfASessionThatIsListedHappensAndNoOtherDoes() {
    Set<Move<SessionState>> walked = new HashSet<>();
    for (SessionState from : SessionState.values()) {
      for (SessionState to : List.of(SessionState.DESYNCED, SessionState.ABORTED)) {
        long session = session();
        switch (from) {
          case ACTIVE -> {}
          case DESYNCED -> ledger.desync(session, "first");
          case ABORTED -> ledger.abort(session, "first");
        }
        boolean moved =
            to == SessionState.DESYNCED
                ? ledger.desync(session, "second")
                : ledger.abort(session, "second");
        assertThat(moved).as("%s to %s", from, to).isEqualTo(from.mayBecome(to));
        var after = ledger.reads().session(session).orElseThrow();
        assertThat(after.state()).isEqualTo(moved ? to : from);
        assertThat(after.stateReason()).isEqualTo(moved ? "second" : "first");
        if (moved) {
          walked.add(new Move<>(from, to));
        }
      }
    }
    assertThat(walked).isEqualTo(listed(SessionState.MOVES));
  }

  private TurnKey turnThatIs(TurnState state) {
    long session = session();
    TurnKey key = Ledgers.key(session, "turn");
    ledger.admit(Ledgers.admit(session, "turn", "text"));
    if (state != TurnState.QUEUED) {
      assertThat(ledger.start(key)).isTrue();
    }
    if (state.isSettled()) {
      ledger.settle(key, outcome(state, "first"));
    }
    assertThat(ledger.reads().turn(key).orElseThrow().state()).isEqualTo(state);
    return key;
  }

  /** Whether the turn moved; the ledger's own answer must say the same. */
  private boolean moves(TurnKey key, TurnState to) {
    TurnSnapshot before = ledger.reads().turn(key).orElseThrow();
    if (to == TurnState.INFLIGHT) {
      return ledger.start(key);
    }
    TurnOutcome outcome = outcome(to, "second");
    if (!before.state().isSettled() && !before.state().mayBecome(to)) {
      assertThatThrownBy(() -> ledger.settle(key, outcome))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("cannot become");
      return false;
    }
    TurnSnapshot stands = ledger.settle(key, outcome);
    assertThat(stands).isEqualTo(ledger.reads().turn(key).orElseThrow());
    return stands.settlement().orElseThrow().outcome().equals(outcome);
  }

  private static TurnOutcome outcome(TurnState state, String text) {
    TurnError error = new TurnError(ErrorCode.BACKEND_ERROR, text, Map.of("turn_id", "turn"));
    return switch (state) {
      case COMMITTED -> Ledgers.committed(text);
      case FAILED -> new TurnOutcome.Failed(error, Work.NONE);
      case CANCELLED -> new TurnOutcome.Cancelled(error, Work.NONE);
      case UNKNOWN -> new TurnOutcome.Unknown(error, Work.NONE);
      case QUEUED, INFLIGHT -> throw new IllegalArgumentException("not settled: " + state);
    };
  }

  private static <S> Set<Move<S>> listed(Map<S, Set<S>> moves) {
    Set<Move<S>> listed = new HashSet<>();
    moves.forEach((from, tos) -> tos.forEach(to -> listed.add(new Move<>(from, to))));
    return listed;
  }
}
