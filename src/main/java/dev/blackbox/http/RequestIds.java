package dev.blackbox.http;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** Names requests in answers and in the log: {@code req-} and eight hexadecimal digits. */
final class RequestIds {

  String next() {
    return "req-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
  }
}
