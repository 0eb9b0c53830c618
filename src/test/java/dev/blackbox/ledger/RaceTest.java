package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.ledger.LedgerFacts.Admission;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many callers at once. */
@Timeout(60)
class RaceTest {

  private static final int RACERS = 32;

  @TempDir Path temp;

  private static <T> List<T> race(IntFunction<T> racer) throws Exception {
    CountDownLatch ready = new CountDownLatch(RACERS);
    List<Future<T>> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < RACERS; i++) {
        int number = i;
        results.add(
            threads.submit(
                () -> {
                  ready.countDown();
                  ready.await();
                  return racer.apply(number);
                }));
      }
    }
    List<T> values = new ArrayList<>();
    for (Future<T> result : results) {
      values.add(result.get());
    }
    return values;
  }

  @Test
  void p2OneOfManyAdmitsStartsAndSettlesATurn() throws Exception {
    try (Ledger ledger = Ledgers.open(temp.resolve("state"))) {
      long session = Ledgers.session(ledger, "sess-1");
      TurnKey key = Ledgers.key(session, "t-1");
      assertThat(race(_ -> ledger.admit(Ledgers.admit(session, "t-1", "one"))))
          .filteredOn(Admission.Fresh.class::isInstance)
          .hasSize(1);
      assertThat(race(_ -> ledger.start(key))).filteredOn(won -> won).hasSize(1);
      List<TurnSnapshot> settled =
          race(number -> ledger.settle(key, Ledgers.committed("answer " + number)));
      assertThat(settled).containsOnly(ledger.reads().turn(key).orElseThrow());
      TurnOutcome stands = settled.getFirst().settlement().orElseThrow().outcome();
      assertThat(stands.work().outputsJson()).matches(".*answer \\d+.*");
      assertThat(ledger.reads().session(session).orElseThrow().committedTurns()).isEqualTo(1);
    }
  }

  @Test
  void manyWhoAskForDifferentTurnsGetOneAtATime() throws Exception {
    try (Ledger ledger = Ledgers.open(temp.resolve("state"))) {
      long session = Ledgers.session(ledger, "sess-1");
      List<Admission> admissions =
          race(number -> ledger.admit(Ledgers.admit(session, "t-" + number, "one")));
      assertThat(admissions).filteredOn(Admission.Fresh.class::isInstance).hasSize(1);
      assertThat(admissions).filteredOn(Admission.Refused.class::isInstance).hasSize(RACERS - 1);
    }
  }

  @Test
  void callersThatWaitTogetherShareOneForce() throws Exception {
    FaultyFiles files = new FaultyFiles();
    try (Ledger ledger = Ledgers.open(Ledgers.config(temp.resolve("state")), files)) {
      List<Long> sessions = new ArrayList<>();
      for (int i = 0; i < RACERS; i++) {
        sessions.add(Ledgers.session(ledger, "sess-" + i));
      }
      int before = files.forces.get();
      // The first batch is held until all the others wait.
      CountDownLatch held = new CountDownLatch(1);
      files.afterForce =
          () -> {
            files.afterForce = () -> {};
            awaitQuietly(held);
          };
      List<Admission> admissions = Collections.synchronizedList(new ArrayList<>());
      List<Thread> racers = new ArrayList<>();
      for (int i = 0; i < RACERS; i++) {
        LedgerFacts.Admit admit = Ledgers.admit(sessions.get(i), "t-1", "number " + i);
        racers.add(Thread.ofVirtual().start(() -> admissions.add(ledger.admit(admit))));
      }
      Awaitility.await()
          .until(() -> racers.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
      held.countDown();
      for (Thread racer : racers) {
        racer.join();
      }
      assertThat(admissions).hasSize(RACERS);
      assertThat(admissions).hasOnlyElementsOfType(Admission.Fresh.class);
      assertThat(files.forces.get() - before)
          .as("the first, and one for all who waited meanwhile")
          .isLessThanOrEqualTo(2);
    }
  }

  @Test
  void p10AFullQueueIsAnsweredAtOnce() throws Exception {
    FaultyFiles files = new FaultyFiles();
    LedgerConfig config =
        new LedgerConfig(
            temp.resolve("state"), Sync.POWER, 2, Long.MAX_VALUE, Duration.ofDays(1), 1);
    try (Ledger ledger = Ledgers.open(config, files)) {
      long session = Ledgers.session(ledger, "sess-1");
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch forcing = new CountDownLatch(1);
      files.afterForce =
          () -> {
            forcing.countDown();
            awaitQuietly(held);
          };
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<Boolean> first = threads.submit(() -> ledger.desync(session, "one"));
        assertThat(forcing.await(10, TimeUnit.SECONDS)).isTrue();
        List<Future<Boolean>> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          others.add(threads.submit(() -> ledger.desync(session, "too late")));
        }
        try {
          Awaitility.await()
              .until(() -> others.stream().filter(Future::isDone).count() == others.size() - 2);
          assertThat(ledger.reads().session(session)).as("reads go on").isPresent();
          for (Future<Boolean> other : others) {
            if (other.isDone()) {
              assertThat(other.exceptionNow())
                  .isInstanceOfSatisfying(
                      Problem.class,
                      full -> assertThat(full.code()).isEqualTo(ErrorCode.SERVICE_UNAVAILABLE));
            }
          }
        } finally {
          files.afterForce = () -> {};
          held.countDown();
        }
        assertThat(first.get()).isTrue();
      }
    }
  }

  @Test
  void callersMayBeInterruptedAndNobodyElseNotices() throws Exception {
    try (Ledger ledger = Ledgers.open(temp.resolve("state"))) {
      long session = Ledgers.session(ledger, "sess-1");
      List<Boolean> interrupted =
          race(
              number -> {
                Thread.currentThread().interrupt();
                if (number % 2 == 0) {
                  ledger.backendSession(session, "ses_" + number);
                } else {
                  assertThat(ledger.reads().session(session)).isPresent();
                }
                return Thread.interrupted();
              });
      assertThat(interrupted).as("the interrupt is not lost").containsOnly(true);
      Ledgers.runTurn(ledger, session, "t-1");
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody let go");
      }
    } catch (InterruptedException unexpected) {
      Thread.currentThread().interrupt();
    }
  }
}
