package dev.blackbox.agent;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * UUIDs of version 5 (RFC 9562, section 5.5) in the namespace for URLs; Java itself has version 3
 * only.
 */
public final class NameBasedUuid {

  private static final UUID URL_NAMESPACE = UUID.fromString("6ba7b811-9dad-11d1-80b4-00c04fd430c8");

  private static final int VERSION = 5;

  private NameBasedUuid() {}

  /** The same for the same name, always and everywhere. */
  public static UUID of(String name) {
    byte[] hash = sha1(bytes(name));
    hash[6] = (byte) ((hash[6] & 0x0f) | (VERSION << 4));
    hash[8] = (byte) ((hash[8] & 0x3f) | 0x80); // the variant of the RFC
    ByteBuffer halves = ByteBuffer.wrap(hash);
    return new UUID(halves.getLong(), halves.getLong());
  }

  private static byte[] bytes(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(16 + text.length)
        .putLong(URL_NAMESPACE.getMostSignificantBits())
        .putLong(URL_NAMESPACE.getLeastSignificantBits())
        .put(text)
        .array();
  }

  private static byte[] sha1(byte[] input) {
    try {
      return MessageDigest.getInstance("SHA-1").digest(input);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-1", impossible);
    }
  }
}
