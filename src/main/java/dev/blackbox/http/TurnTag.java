package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Fingerprints;
import java.nio.charset.StandardCharsets;

/**
 * The validator of a turn as {@code GET} shows it. Weak, because each answer has a request id of
 * its own; it changes with everything else that the answer says, which the moment of the last
 * change and the two states stand for.
 */
record TurnTag(String value) {

  private static final int DIGITS = 20;

  static TurnTag of(Rollout.TurnView view) {
    TurnSnapshot turn = view.turn();
    String all =
        String.join(
            " ",
            turn.key().toString(),
            turn.createdAt().toString(),
            turn.updatedAt().toString(),
            turn.state().wireName(),
            view.sessionState());
    String hash = Fingerprints.sha256Hex(all.getBytes(StandardCharsets.UTF_8));
    return new TurnTag("W/\"" + hash.substring(0, DIGITS) + "\"");
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
