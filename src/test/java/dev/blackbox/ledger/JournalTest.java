package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The journal's files alone: what is read back, what is a torn tail, and what is damage. */
class JournalTest {

  private static final int FACTS = 4;

  @TempDir Path directory;

  /** Where each record ends; the first is the end of the header. */
  private final List<Integer> ends = new ArrayList<>();

  private byte[] whole = new byte[0];
  private Chain end = Chain.START;

  @BeforeEach
  void writeSomeFacts() throws IOException {
    Journal journal = new Journal(JournalFiles.in(directory), Sync.POWER);
    journal.begin(Chain.START);
    ends.add(SegmentHeader.BYTES);
    for (int i = 0; i < FACTS; i++) {
      // Two batches of two facts.
      append(journal, i < 2 ? 0 : 2, "body " + i);
    }
    journal.close();
    whole = Files.readAllBytes(segment());
    assertThat(whole).hasSize(ends.getLast());
  }

  private void append(Journal journal, long settled, String body) throws IOException {
    FactCodec.Encoded fact =
        new FactCodec.Encoded(
            "{\"type\":\"turn_queued\",\"n\":" + end.sequence() + "}", List.of(body, ""));
    ByteBuffer record = new JournalRecord(end.sequence() + 1, settled, end.hash(), fact).toBytes();
    ends.add(ends.getLast() + record.remaining());
    journal.append(List.of(record));
    end = end.next(fact.head());
  }

  private Path segment() {
    return directory.resolve("journal-0000000000000001.log");
  }

  private List<Long> read() throws IOException, LedgerRefusedException {
    List<Long> sequences = new ArrayList<>();
    new JournalReader(JournalFiles.in(directory), directory)
        .replay(Chain.START, Long.MAX_VALUE, fact -> sequences.add(fact.sequence()));
    return sequences;
  }

  @Test
  void allFactsComeBackInOrder() throws Exception {
    List<JournalRecord> facts = new ArrayList<>();
    Chain last =
        new JournalReader(JournalFiles.in(directory), directory)
            .replay(Chain.START, Long.MAX_VALUE, facts::add);
    assertThat(last).isEqualTo(end);
    assertThat(facts).extracting(JournalRecord::sequence).containsExactly(1L, 2L, 3L, 4L);
    assertThat(facts.get(3).fact().bodies()).containsExactly("body 3", "");
  }

  @Test
  void aTailCutAtAnyByteOfTheLastRecordLosesThatRecordOnly() throws Exception {
    for (int length = ends.get(FACTS - 1); length < ends.get(FACTS); length++) {
      Files.write(segment(), Arrays.copyOf(whole, length));
      assertThat(read()).as("cut to %d bytes", length).containsExactly(1L, 2L, 3L);
    }
  }

  @Test
  void aTailWhoseLastRecordIsZeroedFromAnyByteLosesThatRecordOnly() throws Exception {
    for (int from = ends.get(FACTS - 1); from < ends.get(FACTS) - 1; from++) {
      byte[] torn = whole.clone();
      Arrays.fill(torn, from, torn.length, (byte) 0);
      // Some of the last bytes are 0 anyway.
      List<Long> expected =
          Arrays.equals(torn, whole) ? List.of(1L, 2L, 3L, 4L) : List.of(1L, 2L, 3L);
      Files.write(segment(), torn);
      assertThat(read()).as("zeroes from byte %d", from).isEqualTo(expected);
    }
  }

  @Test
  void p11AFlippedBitInASafeRecordIsRefusedWithFileAndOffset() throws Exception {
    // The last batch proves that the first two facts were safe before it was written.
    for (int at = ends.getFirst(); at < ends.get(2); at++) {
      Files.write(segment(), flipped(at));
      int record = at < ends.get(1) ? ends.get(0) : ends.get(1);
      assertThatThrownBy(this::read)
          .as("flipped at byte %d", at)
          .isInstanceOf(LedgerRefusedException.class)
          .hasMessageContaining(segment().toString())
          .hasMessageContaining("at byte " + record + ":");
    }
  }

  @Test
  void aFlippedBitInTheLastBatchIsATornTail() throws Exception {
    for (int at = ends.get(2); at < ends.get(4); at++) {
      Files.write(segment(), flipped(at));
      // Also when the batch's second record is good: the power may have gone between the two.
      assertThat(read()).isEqualTo(at < ends.get(3) ? List.of(1L, 2L) : List.of(1L, 2L, 3L));
    }
  }

  @Test
  void aFlippedBitInTheHeaderIsRefused() throws Exception {
    for (int at = 0; at < SegmentHeader.BYTES; at++) {
      Files.write(segment(), flipped(at));
      assertThatThrownBy(this::read)
          .as("flipped at byte %d", at)
          .isInstanceOf(LedgerRefusedException.class)
          .hasMessageContaining("has no valid header");
    }
  }

  @Test
  void aChangedRecordWithAGoodChecksumDoesNotContinueTheChain() throws Exception {
    byte[] forged = whole.clone();
    ByteBuffer record = ByteBuffer.wrap(forged).slice(ends.get(1), ends.get(2) - ends.get(1));
    int head = JournalRecord.PREFIX_BYTES + JournalRecord.FIXED_BYTES - Integer.BYTES;
    record.put(head + 10, (byte) '?');
    record.putInt(4, JournalRecord.checksum(record.slice(8, record.capacity() - 8)));
    Files.write(segment(), forged);
    assertThatThrownBy(this::read).hasMessageContaining("does not continue the chain at fact 2");
  }

  @Test
  void recordsThatTheNextSegmentSupersedesAreIgnoredAndSoIsRubbleBehindThem() throws Exception {
    // Fact 4 was written, its force failed, and the writer went on after fact 3.
    Chain third = new JournalReaderEnd().after(3);
    Files.write(segment(), new byte[] {1, 2, 3}, StandardOpenOption.APPEND);
    Journal journal = new Journal(JournalFiles.in(directory), Sync.POWER);
    journal.begin(third);
    end = third;
    append(journal, 3, "the other fact 4");
    journal.close();
    List<String> bodies = new ArrayList<>();
    new JournalReader(JournalFiles.in(directory), directory)
        .replay(Chain.START, Long.MAX_VALUE, fact -> bodies.add(fact.fact().bodies().getFirst()));
    assertThat(bodies).containsExactly("body 0", "body 1", "body 2", "the other fact 4");
  }

  @Test
  void aTornRecordBeforeTheLastSegmentIsDamage() throws Exception {
    Journal journal = new Journal(JournalFiles.in(directory), Sync.POWER);
    journal.begin(end);
    journal.close();
    Files.write(segment(), Arrays.copyOf(whole, whole.length - 1));
    assertThatThrownBy(this::read).hasMessageContaining("fact 4 cannot be read");
  }

  @Test
  void aSegmentThatIsMissingInTheMiddleIsDamage() throws Exception {
    Journal journal = new Journal(JournalFiles.in(directory), Sync.POWER);
    journal.begin(new Chain(9, end.hash()));
    journal.close();
    assertThatThrownBy(this::read).hasMessageContaining("fact 5 cannot be read");
  }

  @Test
  void aSegmentThatWasNeverFinishedIsLeftOut() throws Exception {
    Files.write(directory.resolve("journal-0000000000000005.log"), new byte[20]);
    assertThat(read()).containsExactly(1L, 2L, 3L, 4L);
  }

  private byte[] flipped(int at) {
    byte[] flipped = whole.clone();
    flipped[at] ^= 0x10;
    return flipped;
  }

  /** Finds places in the chain. */
  private final class JournalReaderEnd {
    Chain after(long sequence) throws IOException, LedgerRefusedException {
      return new JournalReader(JournalFiles.in(directory), directory)
          .replay(Chain.START, sequence, _ -> {});
    }
  }
}
