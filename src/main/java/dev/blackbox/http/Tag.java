package dev.blackbox.http;

import dev.blackbox.wire.Fingerprints;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The validator of a turn or command as {@code GET} shows it. Weak, because each answer has a
 * request id of its own; it changes with everything else that the answer says, which the moment of
 * the last change and the states stand for.
 */
record Tag(String value) {

  private static final int DIGITS = 20;

  /** Of what changes whenever the answer does. */
  static Tag of(Object... parts) {
    String all = Arrays.stream(parts).map(String::valueOf).collect(Collectors.joining(" "));
    String hash = Fingerprints.sha256Hex(all.getBytes(StandardCharsets.UTF_8));
    return new Tag("W/\"" + hash.substring(0, DIGITS) + "\"");
  }

  /** Whether {@code If-None-Match} has it (RFC 9110, 13.1.2), whatever it says about weakness. */
  boolean isIn(String ifNoneMatch) {
    String opaque = value.substring(2);
    for (String listed : ifNoneMatch.split(",", -1)) {
      String tag = listed.strip();
      if (tag.equals("*") || tag.equals(value) || tag.equals(opaque)) {
        return true;
      }
    }
    return false;
  }
}
