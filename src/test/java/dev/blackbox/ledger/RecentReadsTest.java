package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
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
  void manyWhoAskAtOnceReadOnce() throws Exception {
    SessionSnapshot session = session();
    RecentReads recent = new RecentReads(1 << 20);
    SlowRead read = new SlowRead(session);
    List<Optional<SessionSnapshot>> found = Collections.synchronizedList(new ArrayList<>());
    List<Thread> asking = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      asking.add(Thread.ofVirtual().start(() -> found.add(recent.session(session.key(), read))));
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> asking.stream().allMatch(each -> each.getState() == Thread.State.WAITING));
    read.end.complete(null);
    for (Thread each : asking) {
      each.join();
    }
    assertThat(found).hasSize(50).containsOnly(Optional.of(session));
    assertThat(read.count).hasValue(1);
  }

  @Test
  void nobodyIsToldWhatWasReadBeforeAChange() throws Exception {
    SessionSnapshot session = session();
    RecentReads recent = new RecentReads(1 << 20);
    SlowRead early = new SlowRead(session);
    Thread asking = Thread.ofVirtual().start(() -> recent.session(session.key(), early));
    early.begun.join();
    recent.changing(Set.of(session.key()), false);
    assertThat(recent.session(session.key(), Optional::empty)).isEmpty();
    recent.changed();
    assertThat(recent.session(session.key(), Optional::empty)).isEmpty();
    early.end.complete(null);
    asking.join();
    assertThat(recent.session(session.key())).isEmpty();
  }

  @Test
  void afterAFailedReadEachReadsItself() throws Exception {
    SessionSnapshot session = session();
    RecentReads recent = new RecentReads(1 << 20);
    assertThatThrownBy(
            () ->
                recent.session(
                    session.key(),
                    () -> {
                      throw new IllegalStateException("planted");
                    }))
        .hasMessage("planted");
    assertThat(recent.session(session.key(), () -> Optional.of(session))).contains(session);
  }

  private static final class SlowRead implements Supplier<Optional<SessionSnapshot>> {
    private final SessionSnapshot session;
    private final AtomicInteger count = new AtomicInteger();
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    SlowRead(SessionSnapshot session) {
      this.session = session;
    }

    @Override
    public Optional<SessionSnapshot> get() {
      count.incrementAndGet();
      begun.complete(null);
      end.join();
      return Optional.of(session);
    }
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
