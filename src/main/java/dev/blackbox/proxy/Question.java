package dev.blackbox.proxy;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * By what a call is known when its agent sends it again.
 *
 * @param sum of path and body: two checksums and the length, not a hash. A body of a megabyte is
 *     one in a fiftieth of the time, and whoever finds two bodies with one sum is told an answer of
 *     his own
 * @param hasSdkHeader whether the agent's SDK counts its retries at all
 * @param isMarked whether it says that this is one
 */
record Question(String sum, boolean hasSdkHeader, boolean isMarked) {

  /** Sent by the official SDKs of OpenAI and Anthropic; 0 with a first attempt. */
  static final String RETRY_COUNT = "x-stainless-retry-count";

  private static final Pattern RETRY = Pattern.compile("[1-9]\\d{0,8}");

  static Question of(Route route, byte[] body, Headers headers) {
    String count = headers.first(HeaderNames.create(RETRY_COUNT)).orElse("");
    return new Question(sum(route, body), !count.isEmpty(), RETRY.matcher(count).matches());
  }

  private static String sum(Route route, byte[] body) {
    CRC32 first = new CRC32();
    first.update(body);
    CRC32C second = new CRC32C();
    second.update(body);
    return route.name()
        + " "
        + body.length
        + " "
        + Long.toHexString(first.getValue())
        + " "
        + Long.toHexString(second.getValue());
  }
}
