package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * One seed of the journal on a disk that loses its power: writes batches as the ledger does, takes
 * what would be found at some operations, and reads that. Without a database, so that thousands
 * take seconds.
 */
final class JournalSeed {

  private static final int STEPS = 12;
  private static final int IMAGES_MAX = 6;
  private static final int BODY_BYTES_MAX = 6000;

  private final long seed;
  private final Random random;
  private final CutDisk disk;
  private final Path root;
  private final Journal journal;
  private final Compaction compaction;
  private final CrashTable table;
  private final UnaryOperator<JournalFiles> betweenReading;

  /** Bodies that were ever handed to the journal. */
  private final Set<String> written = new HashSet<>();

  /** Body of each fact that was acknowledged, in order. */
  private final List<String> acknowledged = new ArrayList<>();

  /** Bodies of which callers were told that nothing was recorded. */
  private final List<String> denied = new ArrayList<>();

  private final List<Image> images = new ArrayList<>();
  private Chain head = Chain.START;

  private record Image(
      String point, Map<String, byte[]> files, List<String> acknowledged, List<String> denied) {}

  /**
   * @param between what lies between the journal and its disk when it is written
   * @param betweenReading and when it is read
   */
  JournalSeed(
      long seed,
      Path root,
      CrashTable table,
      UnaryOperator<JournalFiles> between,
      UnaryOperator<JournalFiles> betweenReading)
      throws IOException {
    this.seed = seed;
    this.random = new Random(seed);
    this.root = root;
    this.table = table;
    this.betweenReading = betweenReading;
    this.disk = CutDisk.at(root.resolve("disk"), seed);
    JournalFiles files = between.apply(disk);
    this.journal = new Journal(files, Sync.POWER);
    this.compaction = new Compaction(files, root.resolve("disk"));
  }

  CutDisk disk() {
    return disk;
  }

  void run() throws IOException {
    boolean kills = random.nextInt(4) == 0;
    disk.failing(random.nextBoolean() ? 60 : 0);
    disk.observe((operation, name, done) -> look(operation + " " + name + " " + done, kills));
    for (int i = 0; i < STEPS; i++) {
      step();
    }
    disk.failing(0);
    disk.observe((_, _, _) -> {});
    journal.close();
    disk.forget();
    for (int i = 0; i < images.size(); i++) {
      check(images.get(i), root.resolve("image-" + i));
    }
    disk.brokenRules().forEach(rule -> table.violation("seed " + seed + ": " + rule));
    table.seed();
  }

  private void step() {
    try {
      if (!journal.isOpen() || random.nextInt(4) == 0) {
        journal.begin(head);
      }
    } catch (IOException notNow) {
      // As the ledger does: the old segment goes on if it is still open.
      if (!journal.isOpen()) {
        return;
      }
    }
    if (random.nextInt(3) == 0) {
      compress();
    }
    append();
  }

  private void compress() {
    try {
      compaction.compressNext(() -> false);
    } catch (IOException notNow) {
      // What is there stays as it is.
    } catch (LedgerRefusedException refused) {
      table.violation("seed " + seed + ": not compressed: " + refused.getMessage());
    }
  }

  private void append() {
    List<String> bodies = new ArrayList<>();
    List<ByteBuffer> records = new ArrayList<>();
    Chain end = head;
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      String body =
          (seed + "/" + random.nextInt() + " ").repeat(1 + random.nextInt(BODY_BYTES_MAX) / 15);
      FactCodec.Encoded fact =
          new FactCodec.Encoded("{\"type\":\"x\",\"n\":" + end.sequence() + "}", List.of(body));
      records.add(
          new JournalRecord(end.sequence() + 1, head.sequence(), end.hash(), fact).toBytes());
      bodies.add(body);
      written.add(body);
      end = end.next(fact.head());
    }
    try {
      journal.append(records);
    } catch (IOException failed) {
      if (journal.retract()) {
        denied.addAll(bodies);
      }
      return;
    }
    head = end;
    acknowledged.addAll(bodies);
  }

  private void look(String point, boolean kills) {
    if (images.size() < IMAGES_MAX && random.nextInt(8) == 0) {
      Map<String, byte[]> found = kills ? disk.afterKill() : disk.afterPowerCut(random.nextLong());
      images.add(new Image(point, found, List.copyOf(acknowledged), List.copyOf(denied)));
    }
  }

  private void check(Image image, Path directory) throws IOException {
    table.point();
    CutDisk.materialize(image.files, directory);
    List<String> read = new ArrayList<>();
    String where = "seed " + seed + " at " + image.point + ": ";
    try {
      JournalReader reader =
          new JournalReader(betweenReading.apply(JournalFiles.in(directory)), directory);
      if (!reader.segments().isEmpty()) {
        reader.replay(
            Chain.START, Long.MAX_VALUE, fact -> read.add(String.join("", fact.fact().bodies())));
      }
    } catch (LedgerRefusedException refused) {
      table.violation(where + "refused: " + refused.getMessage());
      return;
    }
    int safe = image.acknowledged.size();
    if (read.size() < safe || !read.subList(0, safe).equals(image.acknowledged)) {
      table.violation(where + "acknowledged " + safe + ", read " + read.size());
    }
    if (!written.containsAll(read)) {
      table.violation(where + "a fact is there that nobody wrote");
    }
    if (read.stream().anyMatch(image.denied::contains)) {
      table.violation(where + "a fact is there of which a caller was told that it is not");
    }
  }
}
