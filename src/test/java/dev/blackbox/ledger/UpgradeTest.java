package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.ledger.LedgerFacts.Admission;
import dev.blackbox.ledger.LedgerRefusedException.Reason;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Ledgers that were written by each landed version, once closed in order and once as a kill left
 * them, with what {@link RebuildTest#firstBoot} did.
 */
@CrashRig
class UpgradeTest {

  private static final Path FIXTURES = Path.of("src/test/resources/dev/blackbox/ledger/upgrades");

  @TempDir Path state;

  static Stream<String> fixtures() throws IOException {
    try (Stream<Path> files = Files.list(FIXTURES)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList().stream();
    }
  }

  /** Schema versions that can be on somebody's disk. Version 3 was replaced before a release. */
  private static final List<Integer> LEFT_BEHIND = List.of(1, 2, 4, 5);

  @Test
  void everyVersionThatWasLeftBehindHasItsFixture() throws IOException {
    assertThat(Schema.VERSION)
        .as("the version before, if it was released, belongs to LEFT_BEHIND, with its fixture")
        .isEqualTo(6);
    assertThat(fixtures().toList())
        .containsAll(
            LEFT_BEHIND.stream()
                .flatMap(n -> Stream.of("v" + n + "-closed.zip", "v" + n + "-killed.zip"))
                .toList());
  }

  @ParameterizedTest
  @MethodSource("fixtures")
  void p3AnOlderLedgerOpensMigratesAndReplays(String fixture) throws Exception {
    unpack(fixture);
    TurnKey settled = Ledgers.key(1, "turn-1");
    TurnSnapshot before;
    try (Ledger ledger = Ledgers.open(state)) {
      assertThat(ledger.boot()).isEqualTo(2);
      assertThat(ledger.recover().turnsInterrupted()).isEqualTo(1);
      before = ledger.reads().turn(settled).orElseThrow();
      assertThat(before.settlement().orElseThrow().outcome())
          .isEqualTo(Ledgers.committed("answer to turn-1"));
      assertThat(ledger.admit(Ledgers.admit(1, "turn-1", "turn-1")))
          .isEqualTo(new Admission.Known(before));
      assertThat(ledger.reads().turn(Ledgers.key(1, "turn-3")).orElseThrow().state())
          .isEqualTo(TurnState.UNKNOWN);
      assertThat(ledger.reads().verify().problems()).isEmpty();
      Ledgers.runTurn(ledger, Ledgers.session(ledger, "sess-new"), "turn-new");
    }
    try (Ledger ledger = Ledgers.open(state)) {
      assertThat(ledger.reads().turn(settled)).contains(before);
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("fixtures")
  void aNewerLedgerIsRefusedUntouched(String fixture) throws Exception {
    unpack(fixture);
    Path segment = Ledgers.segments(state).getLast();
    byte[] bytes = Files.readAllBytes(segment);
    SegmentHeader header = SegmentHeader.of(ByteBuffer.wrap(bytes)).orElseThrow();
    new SegmentHeader(SegmentHeader.FORMAT, Schema.VERSION + 1, header.before())
        .toBytes()
        .get(bytes, 0, SegmentHeader.BYTES);
    Files.write(segment, bytes);
    Map<String, ByteBuffer> files = contents();
    assertThatThrownBy(() -> Ledgers.open(state))
        .isInstanceOfSatisfying(
            LedgerRefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Reason.NEWER_VERSION));
    assertThat(contents()).isEqualTo(files);
  }

  private Map<String, ByteBuffer> contents() throws IOException {
    Map<String, ByteBuffer> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(state)) {
      for (Path file : files.toList()) {
        contents.put(file.getFileName().toString(), ByteBuffer.wrap(Files.readAllBytes(file)));
      }
    }
    contents.remove(StateDirectory.LOCK_FILE);
    return contents;
  }

  private void unpack(String fixture) throws IOException {
    try (InputStream file = Files.newInputStream(FIXTURES.resolve(fixture));
        ZipInputStream zip = new ZipInputStream(file)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Files.write(state.resolve(entry.getName()), zip.readAllBytes());
      }
    }
  }
}
