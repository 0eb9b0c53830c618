package dev.blackbox.wire;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Canonical JSON and its SHA-256: keys sorted, null entries of objects left out at every level,
 * lists kept as they are, no spaces, non-ASCII characters as themselves. Source: the reference
 * server's request and binding fingerprints; its golden values are in the tests.
 */
public final class Fingerprints {

  private Fingerprints() {}

  /** SHA-256 of the canonical JSON of a tree or record, in lower-case hexadecimal. */
  public static String of(Object value) {
    return sha256Hex(canonical(value).getBytes(StandardCharsets.UTF_8));
  }

  public static String canonical(Object value) {
    return Json.write(withoutNulls(Json.MAPPER.convertValue(value, Object.class)));
  }

  public static String sha256Hex(byte[] bytes) {
    return HexFormat.of().formatHex(sha256(bytes));
  }

  public static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }

  private static @Nullable Object withoutNulls(@Nullable Object value) {
    return switch (value) {
      case Map<?, ?> object -> {
        Map<String, Object> sorted = new TreeMap<>();
        object.forEach(
            (key, entry) -> {
              Object kept = withoutNulls(entry);
              if (kept != null) {
                sorted.put(String.valueOf(key), kept);
              }
            });
        yield sorted;
      }
      case List<?> list -> {
        List<@Nullable Object> kept = new ArrayList<>(list.size());
        list.forEach(entry -> kept.add(withoutNulls(entry)));
        yield kept;
      }
      case null, default -> value;
    };
  }
}
