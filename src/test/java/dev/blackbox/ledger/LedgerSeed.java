package dev.blackbox.ledger;

import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * One seed of the whole ledger on a disk that loses its power, or whose process is killed: some
 * boots of random verbs, with what would be found at some operations, and recovery from each.
 */
final class LedgerSeed {

  static final String MACHINE = "machine-1";

  private static final int BOOTS = 2;
  private static final int TURNS_PER_BOOT = 8;
  private static final int IMAGES_PER_BOOT = 2;

  private final long seed;
  private final Random random;
  private final Sync sync;
  private final Path root;
  private final CrashTable table;
  private final boolean power;
  private final String machineAfterwards;

  /** {@code <state> <session> <turn>} after each verb that returned. */
  private final List<String> acknowledged = new CopyOnWriteArrayList<>();

  private final List<Image> images = new CopyOnWriteArrayList<>();
  private int imagesWanted;
  private Consumer<Path> plant = _ -> {};

  private record Image(String point, Map<String, byte[]> files, List<String> acknowledged) {}

  /**
   * @param machineAfterwards the machine's boot id that recovery sees; planted faults lie here
   */
  LedgerSeed(
      long seed, Sync sync, boolean power, String machineAfterwards, Path root, CrashTable table) {
    this.seed = seed;
    this.random = new Random(seed);
    this.sync = sync;
    this.power = power;
    this.machineAfterwards = machineAfterwards;
    this.root = root;
    this.table = table;
  }

  /**
   * @param fault done to the closed files that were recovered, before they are looked at
   */
  LedgerSeed planting(Consumer<Path> fault) {
    plant = fault;
    return this;
  }

  private static LedgerFacts.BootStarting boot(String machine) {
    return new LedgerFacts.BootStarting("test", ProcessHandle.current().pid(), machine);
  }

  private LedgerConfig config(Path directory) {
    LedgerConfig config = new LedgerConfig(directory, sync, 64, 4000, Duration.ofMillis(15), 1);
    // Every second seed trims whatever may be trimmed.
    return seed % 2 == 0 ? config : config.keeping(new Retention(1, Duration.ZERO));
  }

  void run() throws IOException, LedgerRefusedException {
    Path directory = root.resolve("disk");
    CutDisk disk = CutDisk.at(directory, seed);
    for (int boot = 0; boot < BOOTS; boot++) {
      disk.observe((operation, name, done) -> look(disk, operation + " " + name + " " + done));
      imagesWanted = images.size() + IMAGES_PER_BOOT;
      try (Ledger ledger = Ledgers.open(config(directory), boot(MACHINE), disk)) {
        disk.failing(random.nextInt(3) == 0 ? 15 : 0);
        ledger.recover();
        work(ledger, boot);
        disk.failing(0);
      } catch (Problem notRecovered) {
        disk.failing(0);
      }
    }
    disk.observe((_, _, _) -> {});
    disk.forget();
    disk.brokenRules().forEach(rule -> table.violation("seed " + seed + ": " + rule));
    for (int i = 0; i < images.size(); i++) {
      check(images.get(i), root.resolve("image-" + i), random.nextInt(4) == 0);
    }
    table.seed();
  }

  private void work(Ledger ledger, int boot) {
    long session;
    try {
      session = Ledgers.session(ledger, "sess-" + boot);
    } catch (Problem notNow) {
      return;
    }
    for (int i = 0; i < TURNS_PER_BOOT; i++) {
      String id = "b" + boot + "-t" + i;
      TurnKey key = Ledgers.key(session, id);
      try {
        LedgerFacts.Admission admission =
            ledger.admit(Ledgers.admit(session, id, "x".repeat(random.nextInt(5000))));
        if (!(admission instanceof LedgerFacts.Admission.Fresh)) {
          continue;
        }
        acknowledged.add("queued " + session + " " + id);
        if (!ledger.start(key)) {
          continue;
        }
        acknowledged.add("started " + session + " " + id);
        ledger.note(RebuildTest.call(id + "-call", key, 0));
        ledger.note(RebuildTest.callEnd(id + "-call"));
        ledger.settle(key, Ledgers.committed(answer(id)));
        acknowledged.add("committed " + session + " " + id);
      } catch (Problem notNow) {
        // Nothing was acknowledged. The turn that is left active refuses the ones after it.
      }
    }
  }

  private String answer(String id) {
    return (id + " ").repeat(id.hashCode() % 200 + 300);
  }

  private void look(CutDisk disk, String point) {
    if (images.size() < imagesWanted && random.nextInt(40) == 0) {
      // First what was acknowledged: what is acknowledged meanwhile may be there or not.
      List<String> told = List.copyOf(acknowledged);
      images.add(
          new Image(point, power ? disk.afterPowerCut(random.nextLong()) : disk.afterKill(), told));
    }
  }

  private void check(Image image, Path directory, boolean cutAgain) throws IOException {
    table.point();
    String where = "seed " + seed + " at " + image.point + ": ";
    CutDisk.materialize(image.files, directory);
    JournalFiles files = cutAgain ? CutDisk.at(directory, seed) : JournalFiles.in(directory);
    List<Map<String, byte[]>> again = new ArrayList<>();
    if (files instanceof CutDisk disk) {
      disk.observe(
          (_, _, _) -> {
            if (again.isEmpty() && random.nextInt(12) == 0) {
              again.add(power ? disk.afterPowerCut(random.nextLong()) : disk.afterKill());
            }
          });
    }
    long start = System.nanoTime();
    try (Ledger ledger = Ledgers.open(config(directory), boot(machineAfterwards), files)) {
      ledger.recover();
      table.recovered(Duration.ofNanos(System.nanoTime() - start));
      image.acknowledged.forEach(line -> isThere(ledger, line, where));
      ledger.reads().verify().problems().forEach(problem -> table.violation(where + problem));
      if (!cutAgain) {
        sameRows(ledger, directory, where);
      }
    } catch (LedgerRefusedException | RuntimeException failure) {
      table.violation(where + failure);
    }
    if (files instanceof CutDisk disk) {
      disk.forget();
    }
    for (Map<String, byte[]> found : again) {
      check(
          new Image(image.point + ", again in recovery", found, image.acknowledged),
          directory.resolveSibling(directory.getFileName() + "-again"),
          false);
    }
  }

  private void isThere(Ledger ledger, String line, String where) {
    String[] words = line.split(" ", -1);
    TurnKey key = Ledgers.key(Long.parseLong(words[1]), words[2]);
    TurnSnapshot turn = ledger.reads().turn(key).orElse(null);
    // In this order: the ledger is at work, and trims meanwhile.
    if (turn == null
        && ledger.reads().trimmed(key).filter(left -> left.state().isSettled()).isPresent()) {
      return; // It settled, and its session is over.
    }
    Set<TurnState> possible =
        switch (words[0]) {
          case "queued" -> Set.of(TurnState.QUEUED, TurnState.COMMITTED, TurnState.UNKNOWN);
          case "started" -> Set.of(TurnState.COMMITTED, TurnState.UNKNOWN);
          default -> Set.of(TurnState.COMMITTED);
        };
    if (turn == null || !possible.contains(turn.state())) {
      table.violation(
          where + line + " was told, found " + (turn == null ? "nothing" : turn.state()));
    } else if (turn.state() == TurnState.COMMITTED
        && !turn.settlement().orElseThrow().outcome().equals(Ledgers.committed(answer(words[2])))) {
      table.violation(where + line + " has another answer");
    }
  }

  /** The rows are what applying the whole journal gives. */
  private void sameRows(Ledger ledger, Path directory, String where)
      throws IOException, LedgerRefusedException {
    plant.accept(directory);
    Map<String, List<String>> rows;
    Path copy = directory.resolveSibling(directory.getFileName() + "-copy");
    do {
      // The ledger may still record what it trims and erases: journal first, then the rows.
      rows = Ledgers.dump(directory);
      Ledgers.journalOnly(directory, copy);
      awaitRows(ledger);
    } while (!rows.equals(Ledgers.dump(directory)));
    try (Ledger made = Ledgers.open(Ledgers.config(copy), boot(MACHINE), JournalFiles.in(copy))) {
      if (made.isClosed() || !RebuildTest.withoutLastBoot(Ledgers.dump(copy)).equals(rows)) {
        table.violation(where + "the rows are not what the journal gives");
      }
    }
  }

  /** Every fact that is in the journal by now has its rows afterwards. */
  private static void awaitRows(Ledger ledger) {
    boolean started = ledger.start(Ledgers.key(1, "no-such-turn"));
    if (started) {
      throw new IllegalStateException("a turn that nobody queued was started");
    }
  }
}
