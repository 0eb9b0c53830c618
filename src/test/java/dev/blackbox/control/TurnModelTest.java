package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.blackbox.control.StagedLedger.Planted;
import dev.blackbox.ledger.QuietLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The turn engine, held against {@link Truth} in thousands of interleavings, each made from a seed.
 * See docs/testing.md for what it does and how to run more of it.
 */
@ExtendWith(QuietLog.class)
class TurnModelTest {

  /** Interleavings of one run, and the first seed. */
  private static final int COUNT = Integer.getInteger("model.count", 1_000);

  private static final long FROM = Long.getLong("model.from", 0);

  /** Boots and their ledgers grow; a fresh directory now and then keeps them fast. */
  private static final int SCENARIOS_PER_LEDGER = 100;

  /** More than cores, because some scenarios wait for short times to be over. */
  private static final int WORKERS = 6;

  /** Within so many seeds each planted fault must be found. */
  private static final int SEEDS_TO_FIND_MAX = 400;

  private static final int FREE_COUNT = 60;

  /** How many shorter scenarios are tried, once one has failed. */
  private static final int SHORTER_TRIED_MAX = 60;

  private static final AtomicInteger DIRECTORIES = new AtomicInteger();

  private static Path base = Path.of("target");

  @BeforeAll
  static void prepare() throws IOException {
    Path memory = Path.of("/dev/shm");
    base =
        Files.isWritable(memory)
            ? Files.createTempDirectory(memory, "bbs-model")
            : Files.createTempDirectory("bbs-model");
  }

  @AfterAll
  static void tidyUp() throws IOException {
    deleteAll(base);
  }

  @Test
  void everyInterleavingKeepsThePromises() throws Exception {
    AtomicLong next = new AtomicLong(FROM);
    List<Future<Optional<String>>> workers = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(WORKERS)) {
      for (int worker = 0; worker < WORKERS; worker++) {
        workers.add(pool.submit(() -> firstFailure(next, FROM + COUNT)));
      }
    }
    for (Future<Optional<String>> worker : workers) {
      result(worker).ifPresent(failure -> fail(failure));
    }
  }

  /** Seeds that failed once, with what was wrong then; each is played as it was found. */
  @ParameterizedTest
  @ValueSource(longs = {3, 42, 48, 60, 69, 75, 76, 1343, 1440, 1503})
  void seedsThatOnceFailed(long seed) {
    assertThat(play(Scenario.of(seed), Planted.NOTHING, SeededStage::new)).isEmpty();
  }

  /** The test of the test. */
  @ParameterizedTest
  @EnumSource(value = Planted.class, mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
  void aPlantedFaultIsFound(Planted planted) {
    for (long seed = 0; seed < SEEDS_TO_FIND_MAX; seed++) {
      Scenario scenario = Scenario.of(seed);
      boolean restarts = scenario.end() != Scenario.End.NONE;
      if (planted == Planted.FORGETS_AT_REOPEN && !restarts) {
        continue;
      }
      if (play(scenario, planted, SeededStage::new).isPresent()) {
        return;
      }
    }
    fail(planted + " is not found by " + SEEDS_TO_FIND_MAX + " seeds");
  }

  @Test
  void threadsThatRunFreelyKeepThePromisesToo() {
    try (ModelWorld world = world(Planted.NOTHING, FreeStage::new)) {
      for (long seed = FROM; seed < FROM + FREE_COUNT; seed++) {
        Scenario scenario = Scenario.of(seed);
        assertThat(world.play(scenario)).as(scenario.describe()).isEmpty();
      }
    }
  }

  private static Optional<String> result(Future<Optional<String>> worker)
      throws InterruptedException {
    try {
      return worker.get();
    } catch (ExecutionException failed) {
      throw new IllegalStateException(failed.getCause());
    }
  }

  /** Takes seeds until one fails or all are done. */
  private static Optional<String> firstFailure(AtomicLong next, long end) {
    while (next.get() < end) {
      try (ModelWorld world = world(Planted.NOTHING, SeededStage::new)) {
        for (int i = 0; i < SCENARIOS_PER_LEDGER; i++) {
          long seed = next.getAndIncrement();
          if (seed >= end) {
            return Optional.empty();
          }
          Scenario scenario = Scenario.of(seed);
          Optional<String> wrong = world.play(scenario);
          if (wrong.isPresent()) {
            next.set(end);
            return Optional.of(report(scenario, wrong.get()));
          }
        }
      }
    }
    return Optional.empty();
  }

  private static String report(Scenario scenario, String wrong) {
    Scenario shortest = scenario;
    int tried = 0;
    boolean shorter = true;
    while (shorter && tried < SHORTER_TRIED_MAX) {
      shorter = false;
      for (Scenario next : shortest.shorter()) {
        if (!shorter
            && tried++ < SHORTER_TRIED_MAX
            && play(next, Planted.NOTHING, SeededStage::new).isPresent()) {
          shortest = next;
          shorter = true;
        }
      }
    }
    return "seed "
        + scenario.seed()
        + ": "
        + wrong
        + "\nkeep it in seedsThatOnceFailed; the shortest that fails was\n"
        + shortest.describe();
  }

  /** One scenario on a ledger of its own. */
  private static Optional<String> play(Scenario scenario, Planted planted, Supplier<Stage> stages) {
    try (ModelWorld world = world(planted, stages)) {
      return world.play(scenario);
    }
  }

  private static ModelWorld world(Planted planted, Supplier<Stage> stages) {
    Path root = base.resolve("world-" + DIRECTORIES.incrementAndGet());
    return new ModelWorld(root, planted, stages);
  }

  static void deleteAll(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(
              file -> {
                try {
                  Files.delete(file);
                } catch (IOException failure) {
                  throw new UncheckedIOException(failure);
                }
              });
    }
  }
}
