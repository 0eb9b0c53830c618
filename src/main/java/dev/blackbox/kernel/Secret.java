package dev.blackbox.kernel;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/** A value that must not be shown: it prints as {@code ***}, and compares in constant time. */
public final class Secret {

  private static final SecureRandom RANDOM = new SecureRandom();

  private final String value;

  private Secret(String value) {
    this.value = value;
  }

  public static Secret of(String value) {
    return new Secret(value);
  }

  /** A fresh secret of 256 random bits: the prefix, then 64 hexadecimal digits. */
  public static Secret random(String prefix) {
    byte[] bytes = new byte[32];
    RANDOM.nextBytes(bytes);
    return new Secret(prefix + HexFormat.of().formatHex(bytes));
  }

  /** The value itself, for the one place that hands it over. */
  public String reveal() {
    return value;
  }

  public boolean matches(String candidate) {
    return MessageDigest.isEqual(
        value.getBytes(StandardCharsets.UTF_8), candidate.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return "***";
  }
}
