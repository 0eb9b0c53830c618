package dev.blackbox.ledger;

import dev.blackbox.wire.Fingerprints;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * A place in the hash chain: after the fact with this number.
 *
 * @param sequence 0 before the first fact
 * @param hash SHA-256 in lower-case hexadecimal
 */
record Chain(long sequence, String hash) {

  static final int HASH_BYTES = 32;

  /** Before the first fact. */
  static final Chain START = new Chain(0, "0".repeat(2 * HASH_BYTES));

  /** SHA-256 of the hash before, the sequence number as 8 bytes (big-endian), and the head. */
  Chain next(String head) {
    byte[] text = head.getBytes(StandardCharsets.UTF_8);
    byte[] link =
        ByteBuffer.allocate(HASH_BYTES + Long.BYTES + text.length)
            .put(hashBytes())
            .putLong(sequence + 1)
            .put(text)
            .array();
    return new Chain(sequence + 1, Fingerprints.sha256Hex(link));
  }

  byte[] hashBytes() {
    return HexFormat.of().parseHex(hash);
  }

  static Chain at(long sequence, byte[] hash) {
    return new Chain(sequence, HexFormat.of().formatHex(hash));
  }
}
