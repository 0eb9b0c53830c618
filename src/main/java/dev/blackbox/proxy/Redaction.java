package dev.blackbox.proxy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Takes secrets out of bytes. */
final class Redaction {

  private static final byte[] MARK = "[redacted]".getBytes(StandardCharsets.US_ASCII);

  /** Fewer bytes of a secret, at the end of what was cut, say nothing. */
  private static final int PART_BYTES_MIN = 4;

  private Redaction() {}

  /** The bytes with a mark in the place of each secret, and of a part of one at their end. */
  static byte[] without(byte[] bytes, List<byte[]> secrets) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length);
    int position = 0;
    int kept = 0;
    while (position < bytes.length) {
      int length = secretAt(bytes, position, secrets);
      if (length == 0) {
        position++;
        continue;
      }
      out.write(bytes, kept, position - kept);
      out.writeBytes(MARK);
      position += length;
      kept = position;
    }
    if (kept == 0) {
      return bytes;
    }
    out.write(bytes, kept, bytes.length - kept);
    return out.toByteArray();
  }

  /** Length of what of a secret stands there; 0 if none does. */
  private static int secretAt(byte[] bytes, int position, List<byte[]> secrets) {
    for (byte[] secret : secrets) {
      int length = Math.min(secret.length, bytes.length - position);
      int same = 0;
      while (same < length && bytes[position + same] == secret[same]) {
        same++;
      }
      if (same == secret.length || (same == length && same >= PART_BYTES_MIN)) {
        return same;
      }
    }
    return 0;
  }
}
