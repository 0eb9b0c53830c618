package dev.blackbox.proxy;

import dev.blackbox.wire.Fingerprints;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.util.regex.Pattern;

/**
 * By what a call is known when its agent sends it again.
 *
 * @param hash of path and body
 * @param hasSdkHeader whether the agent's SDK counts its retries at all
 * @param isMarked whether it says that this is one
 */
record Question(String hash, boolean hasSdkHeader, boolean isMarked) {

  /** Sent by the official SDKs of OpenAI and Anthropic; 0 with a first attempt. */
  static final String RETRY_COUNT = "x-stainless-retry-count";

  private static final Pattern RETRY = Pattern.compile("[1-9]\\d{0,8}");

  static Question of(Route route, byte[] body, Headers headers) {
    String count = headers.first(HeaderNames.create(RETRY_COUNT)).orElse("");
    return new Question(
        route.name() + " " + Fingerprints.sha256Hex(body),
        !count.isEmpty(),
        RETRY.matcher(count).matches());
  }
}
