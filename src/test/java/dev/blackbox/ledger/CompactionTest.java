package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segments that are full are compressed while the ledger is written, and nothing else changes. */
class CompactionTest {

  private static final int TURNS = 40;

  @TempDir Path temp;

  private Path state() {
    return temp.resolve("state");
  }

  /** A new segment after each batch or so, whenever the writer has nothing else to do. */
  private LedgerConfig smallSegments() {
    return new LedgerConfig(state(), Sync.PROCESS, 64, 4000, Duration.ofMillis(10), 2);
  }

  private List<String> segments(boolean compressed) throws Exception {
    return Ledgers.segments(state()).stream()
        .map(file -> file.getFileName().toString())
        .filter(name -> SegmentHeader.isCompressed(name) == compressed)
        .toList();
  }

  private Ledger opened() throws LedgerRefusedException {
    return Ledgers.open(smallSegments(), Ledgers.BOOT, JournalFiles.in(state()));
  }

  private void fill(Ledger ledger) {
    long session = Ledgers.session(ledger, "sess-1");
    for (int i = 0; i < TURNS; i++) {
      String id = "t-" + i;
      ledger.admit(Ledgers.admit(session, id, (id + " ").repeat(400)));
      ledger.start(Ledgers.key(session, id));
      ledger.settle(Ledgers.key(session, id), Ledgers.committed((id + " ").repeat(400)));
    }
  }

  private void awaitAllButTheNewestCompressed() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(segments(false)).hasSize(1);
              assertThat(segments(true)).hasSizeGreaterThan(3);
            });
  }

  @Test
  void fullSegmentsAreCompressedWhileTheLedgerIsWritten() throws Exception {
    Map<String, List<String>> rows;
    try (Ledger ledger = opened()) {
      fill(ledger);
      awaitAllButTheNewestCompressed();
      assertThat(ledger.reads().verify().problems()).isEmpty();
      rows = Ledgers.dump(state());
    }
    long bytes = 0;
    for (Path segment : Ledgers.segments(state())) {
      bytes += Files.size(segment);
    }
    assertThat(bytes).isLessThan(TURNS * 4000L);
    Path copy = Ledgers.journalOnly(state(), temp.resolve("copy"));
    try (Ledger ledger = Ledgers.open(copy)) {
      Map<String, List<String>> made = RebuildTest.withoutLastBoot(Ledgers.dump(copy));
      rows.forEach(
          (table, before) -> assertThat(made.get(table)).as(table).containsAll(notOfBoots(before)));
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  /** The end of the boot came after the rows were looked at. */
  private static List<String> notOfBoots(List<String> rows) {
    return rows.stream().filter(row -> !row.startsWith("BOOT=")).toList();
  }

  @Test
  void aCompressedSegmentIsTheSegmentForAnybodyWhoHasZcat() throws Exception {
    JournalFiles files = JournalFiles.in(Files.createDirectory(state()));
    Chain end = Chain.START;
    try (JournalCopy journal = new JournalCopy(files)) {
      for (int i = 0; i < 20; i++) {
        FactCodec.Encoded fact = new FactCodec.Encoded("{\"n\":" + i + "}", List.of("body " + i));
        JournalRecord record = new JournalRecord(end.sequence() + 1, 0, end.hash(), fact);
        journal.accept(record);
        end = record.after();
      }
    }
    String plain = segments(false).getFirst();
    byte[] before = Files.readAllBytes(state().resolve(plain));
    Journal next = new Journal(files, Sync.POWER);
    next.begin(end);
    next.close();
    Compaction compaction = new Compaction(files, state());
    assertThat(compaction.compressNext(() -> true)).as("stopped").isFalse();
    assertThat(segments(false)).hasSize(2).contains(plain);
    assertThat(compaction.compressNext(() -> false)).isTrue();
    assertThat(compaction.compressNext(() -> false)).as("the newest stays").isFalse();
    assertThat(segments(false)).hasSize(1).doesNotContain(plain);
    try (InputStream file = Files.newInputStream(state().resolve(SegmentHeader.otherName(plain)));
        GZIPInputStream inflated = new GZIPInputStream(file)) {
      assertThat(inflated.readAllBytes()).isEqualTo(before);
    }
  }

  @Test
  void damageToACompressedSegmentIsFoundWhereItIsNeeded() throws Exception {
    try (Ledger ledger = opened()) {
      fill(ledger);
      awaitAllButTheNewestCompressed();
    }
    Random random = new Random(3);
    for (int round = 0; round < 40; round++) {
      Path copy = Ledgers.journalOnly(state(), temp.resolve("damaged-" + round));
      List<Path> all = Ledgers.segments(copy);
      Path damaged = all.get(random.nextInt(all.size() - 1));
      byte[] bytes = Files.readAllBytes(damaged);
      byte[] whole = unpacked(bytes);
      // The first ten bytes of gzip say when and where it was made: of no meaning.
      bytes[10 + random.nextInt(bytes.length - 18)] ^= (byte) (1 << random.nextInt(8));
      if (Arrays.equals(whole, unpacked(bytes))) {
        continue; // Nor has every bit of what follows, as the last ones before the checksum.
      }
      Files.write(damaged, bytes);
      assertThatThrownBy(() -> Ledgers.open(copy))
          .as("round %d", round)
          .isInstanceOf(LedgerRefusedException.class)
          .hasMessageContaining(".log");
    }
  }

  /** Nothing if it cannot be. */
  private static byte[] unpacked(byte[] gzip) {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(gzip))) {
      return in.readAllBytes();
    } catch (IOException damaged) {
      return new byte[0];
    }
  }

  @Test
  void aSegmentThatHasBothFormsAfterACrashIsCompressedOnceMore() throws Exception {
    try (Ledger ledger = opened()) {
      fill(ledger);
      awaitAllButTheNewestCompressed();
    }
    Path compressed = Ledgers.segments(state()).get(2);
    String name = compressed.getFileName().toString();
    Path plain = state().resolve(SegmentHeader.otherName(name));
    try (InputStream file = Files.newInputStream(compressed);
        GZIPInputStream inflated = new GZIPInputStream(file)) {
      Files.copy(inflated, plain);
    }
    Files.writeString(state().resolve(Compaction.UNFINISHED), "what a crash left");
    try (Ledger ledger = opened()) {
      assertThat(ledger.reads().verify().problems()).isEmpty();
      awaitAllButTheNewestCompressed();
    }
    assertThat(plain).doesNotExist();
    assertThat(state().resolve(Compaction.UNFINISHED)).doesNotExist();
  }
}
