package dev.blackbox.http;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The header {@code Idempotency-Key}, another way to say {@code turn_id} or {@code command_id}: a
 * string in quotes (draft-ietf-httpapi-idempotency-key-header, RFC 8941 section 3.3.3), or, as most
 * clients send it, bare.
 */
final class IdempotencyKey {

  private static final List<Object> PLACE = List.of("header", "idempotency-key");

  private IdempotencyKey() {}

  /**
   * The id that a request means: that of its body, or the key; one that is both must be the same.
   *
   * @param field what the id is called in the body
   */
  static Optional<String> orField(
      RequestHeaders headers, String field, Optional<String> inBody, Faults faults) {
    Set<String> keys = new TreeSet<>();
    for (String line : headers.all("idempotency-key")) {
      keys.add(unquoted(line.strip()));
    }
    if (keys.isEmpty()) {
      return inBody;
    }
    inBody.ifPresent(keys::add);
    if (keys.size() > 1) {
      faults.add(
          "idempotency_key_mismatch",
          PLACE,
          "Idempotency-Key and " + field + " are two names for one thing, and must agree",
          headers.joined("idempotency-key"));
    }
    return Optional.of(keys.iterator().next());
  }

  /** What is no string in quotes stays as it is, and then is no identifier. */
  private static String unquoted(String value) {
    if (value.length() < 2 || !value.startsWith("\"") || !value.endsWith("\"")) {
      return value;
    }
    return value.substring(1, value.length() - 1).replaceAll("\\\\([\"\\\\])", "$1");
  }
}
