package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecentReadsTest {

  @TempDir private Path directory;

  @Test
  void everyChangeIsSeenByTheNextRead() throws Exception {
    try (Ledger ledger = Ledgers.open(directory)) {
      long session = Ledgers.session(ledger, "sess-1");
      TurnKey turn = Ledgers.key(session, "t-1");
      assertThat(ledger.reads().turn(turn)).isEmpty();
      ledger.admit(Ledgers.admit(session, "t-1", "text"));
      assertThat(read(ledger, turn).state()).isEqualTo(TurnState.QUEUED);
      assertThat(ledger.start(turn)).isTrue();
      assertThat(read(ledger, turn).state()).isEqualTo(TurnState.INFLIGHT);
      ledger.requestCancel(turn);
      assertThat(read(ledger, turn).cancelRequested()).isTrue();
      assertThat(ledger.reads().session(session).orElseThrow().committedTurns()).isZero();
      ledger.settle(turn, Ledgers.committed("done"));
      assertThat(read(ledger, turn).state()).isEqualTo(TurnState.COMMITTED);
      assertThat(ledger.reads().session(session).orElseThrow().committedTurns()).isOne();
      ledger.desync(session, "lost");
      assertThat(ledger.reads().session(session).orElseThrow().state())
          .isEqualTo(SessionState.DESYNCED);
      ledger.abort(session, "enough");
      assertThat(ledger.reads().session(session).orElseThrow().state())
          .isEqualTo(SessionState.ABORTED);
    }
  }

  private static TurnSnapshot read(Ledger ledger, TurnKey turn) {
    TurnSnapshot first = ledger.reads().turn(turn).orElseThrow();
    assertThat(ledger.reads().turn(turn)).contains(first);
    return first;
  }

  /** P4: whoever saw a turn settle never sees it open again, however reads and writes mix. */
  @Test
  void readsNeverGoBack() throws Exception {
    try (Ledger ledger = Ledgers.open(directory)) {
      long session = Ledgers.session(ledger, "sess-1");
      int turns = 100;
      CountDownLatch written = new CountDownLatch(1);
      List<String> backwards = new ArrayList<>();
      Thread reader =
          Thread.ofVirtual()
              .start(
                  () -> {
                    int committed = 0;
                    while (written.getCount() > 0) {
                      int now = ledger.reads().session(session).orElseThrow().committedTurns();
                      if (now < committed) {
                        backwards.add(committed + " then " + now);
                      }
                      committed = now;
                    }
                  });
      for (int i = 1; i <= turns; i++) {
        Ledgers.runTurn(ledger, session, "t-" + i);
        assertThat(ledger.reads().session(session).orElseThrow().committedTurns()).isEqualTo(i);
      }
      written.countDown();
      reader.join();
      assertThat(backwards).isEmpty();
    }
  }

  @Test
  void whatIsReadWhileRowsChangeIsNotKept() throws Exception {
    SessionSnapshot session = session();
    RecentReads recent = new RecentReads(1 << 20);
    long before = recent.version();
    recent.changing(Set.of(session.key()), false);
    recent.keep(session, before);
    assertThat(recent.session(session.key())).isEmpty();
    recent.keep(session, recent.version());
    assertThat(recent.session(session.key())).isEmpty();
    recent.changed();
    recent.keep(session, before);
    assertThat(recent.session(session.key())).isEmpty();
    recent.keep(session, recent.version());
    assertThat(recent.session(session.key())).contains(session);
    recent.forgetAll();
    assertThat(recent.session(session.key())).isEmpty();
  }

  @Test
  void theMemoryHasABound() throws Exception {
    List<TurnSnapshot> turns = new ArrayList<>();
    try (Ledger ledger = Ledgers.open(directory)) {
      long session = Ledgers.session(ledger, "sess-1");
      for (int i = 0; i < 20; i++) {
        Ledgers.runTurn(ledger, session, "t-" + i);
        turns.add(ledger.reads().turn(Ledgers.key(session, "t-" + i)).orElseThrow());
      }
    }
    RecentReads recent = new RecentReads(10_000);
    turns.forEach(turn -> recent.keep(turn, recent.version()));
    assertThat(turns.stream().filter(turn -> recent.turn(turn.key()).isPresent()).count())
        .isBetween(1L, 9L);
    assertThat(recent.turn(turns.getLast().key())).contains(turns.getLast());
    assertThat(recent.turn(turns.getFirst().key())).isEmpty();
    RecentReads none = new RecentReads(0);
    none.keep(turns.getFirst(), none.version());
    assertThat(none.turn(turns.getFirst().key())).isEmpty();
  }

  private SessionSnapshot session() throws Exception {
    try (Ledger ledger = Ledgers.open(directory)) {
      return ledger.reads().session(Ledgers.session(ledger, "sess-1")).orElseThrow();
    }
  }
}
