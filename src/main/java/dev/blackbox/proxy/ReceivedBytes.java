package dev.blackbox.proxy;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/** Counts and hashes what came from the engine, and keeps it if that is wanted. */
final class ReceivedBytes {

  private final MessageDigest digest = sha256();
  private final CallCapture capture;
  private long bytes;

  ReceivedBytes(CallCapture capture) {
    this.capture = capture;
  }

  void add(byte[] buffer, int length) {
    bytes += length;
    digest.update(buffer, 0, length);
    capture.received(buffer, length);
  }

  /** Another attempt begins. */
  void reset() {
    bytes = 0;
    digest.reset();
  }

  long bytes() {
    return bytes;
  }

  /** SHA-256 in hexadecimal digits; empty if nothing came. To be asked once, at the end. */
  Optional<String> hash() {
    return bytes == 0 ? Optional.empty() : Optional.of(HexFormat.of().formatHex(digest.digest()));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }
}
