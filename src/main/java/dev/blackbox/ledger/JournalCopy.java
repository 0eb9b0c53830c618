package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Writes records to a new journal, in forced batches and segments of the usual size. */
final class JournalCopy implements JournalReader.Sink, Closeable {

  private static final long SEGMENT_BYTES = 8L << 20;
  private static final long BATCH_BYTES = 1L << 20;

  private final Journal journal;
  private final List<ByteBuffer> batch = new ArrayList<>();
  private long batchBytes;
  private Chain written = Chain.START;

  /** Begins the first segment. */
  JournalCopy(JournalFiles files) throws IOException {
    journal = new Journal(files, Sync.POWER);
    journal.begin(Chain.START);
  }

  @Override
  public void accept(JournalRecord fact) throws IOException {
    ByteBuffer bytes = fact.toBytes();
    batchBytes += bytes.remaining();
    batch.add(bytes);
    written = fact.after();
    if (batchBytes >= BATCH_BYTES) {
      append();
      if (journal.factBytes() >= SEGMENT_BYTES) {
        journal.begin(written);
      }
    }
  }

  @Override
  public void gap(JournalRecord gap) throws IOException {
    accept(gap);
  }

  private void append() throws IOException {
    journal.append(batch);
    batch.clear();
    batchBytes = 0;
  }

  /** The newest record that was taken. */
  Chain end() {
    return written;
  }

  /** Appends what waits. */
  @Override
  public void close() throws IOException {
    try {
      append();
    } finally {
      journal.close();
    }
  }
}
