package dev.blackbox.proxy;

import dev.blackbox.kernel.Secret;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Keys of single turns. Each is a random word and its HMAC under the key of the binding, so that
 * the key of a turn that is over is known for one without a list of all that were.
 */
final class TurnSecrets {

  private static final String PREFIX = "bbs-turn-";
  private static final String ALGORITHM = "HmacSHA256";

  private TurnSecrets() {}

  /** Another key, for an agent that is started for one turn. */
  static Secret issue(Secret binding) {
    String word = Secret.random(PREFIX).reveal();
    return Secret.of(word + "-" + code(binding, word));
  }

  /** Whether this is the key of any turn of the binding. */
  static boolean isOf(Secret binding, String candidate) {
    int end = candidate.lastIndexOf('-');
    return candidate.startsWith(PREFIX)
        && end >= PREFIX.length()
        && Secret.of(code(binding, candidate.substring(0, end)))
            .matches(candidate.substring(end + 1));
  }

  private static String code(Secret binding, String word) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(binding.reveal().getBytes(StandardCharsets.UTF_8), ALGORITHM));
      return HexFormat.of().formatHex(mac.doFinal(word.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException | InvalidKeyException impossible) {
      throw new IllegalStateException("every Java platform has HMAC-SHA256", impossible);
    }
  }
}
