package dev.blackbox.ledger;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Planted: a reader that cannot tell a torn record from a whole one. */
final class TornReading extends PlantedFiles {

  private interface Flaw {
    byte[] in(byte[] file);
  }

  private final Flaw flaw;

  private TornReading(JournalFiles real, Flaw flaw) {
    super(real);
    this.flaw = flaw;
  }

  /** Believes each record that has a possible length, whatever its checksum says. */
  static JournalFiles believing(JournalFiles real) {
    return new TornReading(
        real,
        file -> {
          ByteBuffer bytes = ByteBuffer.wrap(file);
          forEachRecord(
              bytes,
              (at, length) ->
                  bytes.putInt(
                      at + Integer.BYTES,
                      JournalRecord.checksum(
                          bytes.slice(at + JournalRecord.PREFIX_BYTES, length))));
          return file;
        });
  }

  /** Leaves out the last record, which is whole. */
  static JournalFiles doubting(JournalFiles real) {
    return new TornReading(
        real,
        file -> {
          int[] last = {file.length};
          forEachRecord(ByteBuffer.wrap(file), (at, _) -> last[0] = at);
          return java.util.Arrays.copyOf(file, last[0]);
        });
  }

  private interface Visitor {
    void at(int position, int length);
  }

  private static void forEachRecord(ByteBuffer bytes, Visitor visitor) {
    int position = SegmentHeader.BYTES;
    while (position + JournalRecord.PREFIX_BYTES < bytes.limit()) {
      int length = bytes.getInt(position);
      if (length < JournalRecord.FIXED_BYTES
          || length > bytes.limit() - position - JournalRecord.PREFIX_BYTES) {
        return;
      }
      visitor.at(position, length);
      position += JournalRecord.PREFIX_BYTES + length;
    }
  }

  @Override
  Input planted(Input input) throws IOException {
    ByteBuffer file = ByteBuffer.allocate((int) input.size());
    input.read(0, file);
    byte[] flawed = flaw.in(file.array());
    return new Input() {
      @Override
      public long size() {
        return flawed.length;
      }

      @Override
      public void read(long position, ByteBuffer into) {
        int length = (int) Math.min(into.remaining(), Math.max(0, flawed.length - position));
        into.put(flawed, (int) Math.min(position, flawed.length), length);
      }

      @Override
      public void close() throws IOException {
        input.close();
      }
    };
  }
}
