package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerFacts.Admission;
import dev.blackbox.ledger.LedgerFacts.Admit;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What is answered to somebody who wants a turn. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AdmissionTest {

  private Ledger ledger;
  private Path state;
  private int sessions;

  @BeforeAll
  void open(@TempDir Path temp) throws LedgerRefusedException {
    state = temp.resolve("state");
    ledger = Ledgers.open(state);
  }

  @AfterAll
  void close() {
    ledger.close();
  }

  private long session() {
    return Ledgers.session(ledger, "sess-" + ++sessions);
  }

  private TurnSnapshot fresh(long session, String turnId, String text) {
    Admission admission = ledger.admit(Ledgers.admit(session, turnId, text));
    assertThat(admission).isInstanceOf(Admission.Fresh.class);
    return ((Admission.Fresh) admission).turn();
  }

  private Problem refused(Admit admit) {
    long before = ledger.reads().events(1, 10_000).size();
    Admission admission = ledger.admit(admit);
    assertThat(admission).isInstanceOf(Admission.Refused.class);
    assertThat(ledger.reads().events(1, 10_000)).as("nothing is recorded").hasSize((int) before);
    return ((Admission.Refused) admission).problem();
  }

  @Test
  void aFreshTurnIsQueuedWithAllThatWasAsked() {
    long session = session();
    TurnSnapshot turn = fresh(session, "t-1", "hello");
    assertThat(turn.state()).isEqualTo(TurnState.QUEUED);
    assertThat(turn.requestJson()).isEqualTo("[{\"role\":\"user\",\"content\":\"hello\"}]");
    assertThat(turn.queuedByBoot()).isEqualTo(1);
    assertThat(turn.startedByBoot()).isEmpty();
    assertThat(turn.settlement()).isEmpty();
    assertThat(turn.createdAt()).isEqualTo(turn.updatedAt());
    assertThat(ledger.reads().activeTurn(session)).contains(turn);
    assertThat(ledger.nextQueued(session)).contains(turn);
    assertThat(ledger.reads().latestTurn(session)).contains(turn);
    SessionSnapshot snapshot = ledger.reads().session(session).orElseThrow();
    assertThat(snapshot.explicitTurnIds()).isTrue();
    assertThat(snapshot.systemPrompt().orElseThrow().text()).contains("Be brief. – sess-");
  }

  @Test
  void p3AKnownTurnWinsOverEveryRefusal() {
    long session = session();
    TurnKey key = Ledgers.runTurn(ledger, session, "t-1");
    ledger.abort(session, "over");
    Admit again = Ledgers.admit(session, "t-1", "t-1");
    Admit refusing =
        new Admit(
            session,
            again.turnId(),
            again.fingerprint(),
            again.requestJson(),
            "{\"other\":1}",
            Optional.of(Problem.unavailable("not ready", Map.of())),
            0);
    assertThat(ledger.admit(refusing))
        .isEqualTo(new Admission.Known(ledger.reads().turn(key).orElseThrow()));
  }

  @Test
  void theSameIdWithAnotherRequestIsAConflict() {
    long session = session();
    fresh(session, "t-1", "one");
    Problem problem = refused(Ledgers.admit(session, "t-1", "two"));
    assertThat(problem.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(problem.text())
        .isEqualTo("Same turn_id was already used with a different request body.");
    assertThat(problem.details())
        .isEqualTo(Map.of("session_id", "sess-" + sessions, "turn_id", "t-1"));
  }

  @Test
  void theCallersRefusalComesNext() {
    long session = session();
    ledger.abort(session, "over");
    Problem notReady = Problem.unavailable("not ready", Map.of("state", "error"));
    Admit admit = Ledgers.admit(session, "t-1", "one");
    Admit refusing = new Admit(session, admit.turnId(), "f", "[]", "{}", Optional.of(notReady), 10);
    assertThat(refused(refusing)).isSameAs(notReady);
  }

  @Test
  void abortedAndDesyncedSessionsTakeNoNewTurns() {
    long session = session();
    ledger.desync(session, "agent died");
    Problem desynced = refused(Ledgers.admit(session, "t-1", "one"));
    assertThat(desynced.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(desynced.text()).isEqualTo("Session is desynced and cannot accept new turns.");
    assertThat(desynced.details()).containsEntry("state", "desynced");
    ledger.abort(session, "over");
    Problem aborted = refused(Ledgers.admit(session, "t-1", "one"));
    assertThat(aborted.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(aborted.details())
        .isEqualTo(Map.of("session_id", "sess-" + sessions, "state", "aborted"));
  }

  @Test
  void onlyCommittedTurnsCountAgainstTheLimit() {
    long session = session();
    Ledgers.runTurn(ledger, session, "t-1");
    Admit admit = Ledgers.admit(session, "t-2", "two");
    Admit limited = new Admit(session, admit.turnId(), "f", "[]", "{}", Optional.empty(), 1);
    Problem problem = refused(limited);
    assertThat(problem.code()).isEqualTo(ErrorCode.TOO_MANY_REQUESTS);
    assertThat(problem.details()).containsEntry("max_turns", 1);
    assertThat(ledger.reads().session(session).orElseThrow().committedTurns()).isEqualTo(1);
    fresh(session, "t-2", "two");
  }

  @Test
  void theFirstAcceptedTurnDecidesWhetherIdsAreGenerated() {
    long explicit = session();
    fresh(explicit, "t-1", "one");
    Problem required = refused(Ledgers.admit(explicit, "", "two"));
    assertThat(required.code()).isEqualTo(ErrorCode.REQUEST_ERROR);
    assertThat(required.text()).contains("turn_id is required");

    long generated = session();
    TurnSnapshot turn = fresh(generated, "", "one");
    String id = turn.key().turnId().value();
    assertThat(id).matches("turn-[0-9a-f]{32}");
    assertThat(ledger.admit(Ledgers.admit(generated, "", "one")))
        .isEqualTo(new Admission.Known(turn));
    assertThat(ledger.admit(Ledgers.admit(generated, id, "one")))
        .isEqualTo(new Admission.Known(turn));
    assertThat(refused(Ledgers.admit(generated, "", "other")).details())
        .containsEntry("turn_id", id);
    assertThat(refused(Ledgers.admit(generated, "t-9", "one")).details())
        .isEqualTo(
            Map.of(
                "session_id", "sess-" + sessions, "expected_turn_id", id, "actual_turn_id", "t-9"));
  }

  @Test
  void p5ASecondActiveTurnIsAConflict() {
    long session = session();
    fresh(session, "t-1", "one");
    Problem problem = refused(Ledgers.admit(session, "t-2", "two"));
    assertThat(problem.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(problem.details())
        .isEqualTo(
            Map.of("session_id", "sess-" + sessions, "turn_id", "t-2", "active_turn_id", "t-1"));
  }

  @Test
  void p5TheSchemaItselfRefusesASecondActiveTurnAndASecondRowForAnId() {
    long session = session();
    Ledgers.runTurn(ledger, session, "t-1");
    fresh(session, "t-2", "two");
    String copy =
        """
        INSERT INTO turn (session_key, turn_id, turn_number, state, fingerprint, request, metadata,
          cancel_requested, queued_by_boot, created_at, updated_at)
        SELECT session_key, '%s', 99, '%s', fingerprint, request, metadata,
          cancel_requested, queued_by_boot, created_at, updated_at
        FROM turn WHERE turn_id = 't-2' AND session_key = SESSION\
        """
            .replace("SESSION", String.valueOf(session));
    assertThatThrownBy(() -> Ledgers.sql(state, copy.formatted("t-3", "inflight")))
        .hasMessageContaining("ONE_ACTIVE_TURN");
    assertThatThrownBy(() -> Ledgers.sql(state, copy.formatted("t-1", "committed")))
        .hasMessageContaining("PRIMARY_KEY");
    assertThatThrownBy(
            () ->
                Ledgers.sql(
                    state,
                    "UPDATE turn SET state = 'inflight' WHERE turn_id = 't-1' AND session_key = "
                        + session))
        .hasMessageContaining("ONE_ACTIVE_TURN");
    assertThatThrownBy(() -> Ledgers.sql(state, copy.formatted("t-4", "done")))
        .hasMessageContaining("Check constraint");
  }

  @Test
  void anUnknownSessionOrTurnIsNotFound() {
    long session = session();
    assertThatThrownBy(() -> ledger.admit(Ledgers.admit(99_999, "t-1", "one")))
        .isInstanceOfSatisfying(
            Problem.class, p -> assertThat(p.code()).isEqualTo(ErrorCode.NOT_FOUND));
    assertThatThrownBy(() -> ledger.requestCancel(Ledgers.key(session, "t-1")))
        .isInstanceOfSatisfying(
            Problem.class, p -> assertThat(p.code()).isEqualTo(ErrorCode.NOT_FOUND));
    assertThat(ledger.start(Ledgers.key(session, "t-1"))).isFalse();
    assertThat(ledger.reads().turn(Ledgers.key(session, "t-1"))).isEmpty();
  }
}
