package dev.blackbox.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What was sent on one connection, told apart into requests, so that each answer can be held
 * against the description of what was asked. From the first thing on that is not plainly a request,
 * nothing is known any more.
 */
final class SentRequests {

  /**
   * A request line.
   *
   * @param target path and query
   */
  record Line(String method, String target) {}

  private static final Pattern HEAD =
      Pattern.compile("([A-Z]+) (/\\S*) HTTP/1\\.1\r\n(.*?)\r\n\r\n", Pattern.DOTALL);
  private static final Pattern LENGTH =
      Pattern.compile("(?im)^content-length:[ ]*([0-9]{1,9})\r?$");
  private static final Pattern NOT_PLAIN =
      Pattern.compile("(?im)^(transfer-encoding|content-encoding|expect):");
  private static final int HEAD_LENGTH_MAX = 32 << 10;

  private final Deque<Line> waiting = new ArrayDeque<>();
  private final StringBuilder rest = new StringBuilder();
  private long bodyLeft;
  private boolean unknown;

  void sent(byte[] bytes) {
    int skipped = (int) Math.min(bodyLeft, bytes.length);
    bodyLeft -= skipped;
    if (unknown || skipped == bytes.length) {
      return;
    }
    rest.append(new String(bytes, skipped, bytes.length - skipped, StandardCharsets.ISO_8859_1));
    while (!unknown && bodyLeft == 0 && rest.indexOf("\r\n\r\n") >= 0) {
      takeOne();
    }
    unknown |= rest.length() > HEAD_LENGTH_MAX;
  }

  private void takeOne() {
    Matcher head = HEAD.matcher(rest);
    if (!head.lookingAt() || NOT_PLAIN.matcher(head.group(3)).find()) {
      unknown = true;
      return;
    }
    waiting.add(new Line(head.group(1), head.group(2)));
    Matcher length = LENGTH.matcher(head.group(3));
    bodyLeft = length.find() ? Long.parseLong(length.group(1)) : 0;
    unknown = length.find();
    rest.delete(0, head.end());
    int skipped = (int) Math.min(bodyLeft, rest.length());
    rest.delete(0, skipped);
    bodyLeft -= skipped;
  }

  /** What the next answer is for, if that is plain. */
  Optional<Line> answered() {
    return Optional.ofNullable(waiting.poll());
  }
}
