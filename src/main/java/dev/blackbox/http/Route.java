package dev.blackbox.http;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One line of the table of routes.
 *
 * @param segments of the path; a name in braces takes any segment that is not empty
 * @param always true if it is answered even when too many requests are in work, and to anybody,
 *     with or without the API token
 */
record Route(String method, List<String> segments, Action action, boolean always) {

  private static final int HEX = 16;

  /** Decodes, asks and encodes. */
  interface Action {
    Answer answer(Call call);
  }

  static Route get(String path, Action action) {
    return new Route("GET", split(path), action, false);
  }

  static Route post(String path, Action action) {
    return new Route("POST", split(path), action, false);
  }

  /** The same, answered however busy the server is and whoever asks. */
  Route evenIfBusy() {
    return new Route(method, segments, action, true);
  }

  /** The segments of a path as it came over the wire; nothing is folded away. */
  static List<String> split(String rawPath) {
    return List.of(rawPath.split("/", -1));
  }

  /** The named parts, decoded once, if the path is this route's. */
  Optional<Map<String, String>> match(List<String> rawSegments) {
    if (rawSegments.size() != segments.size()) {
      return Optional.empty();
    }
    Map<String, String> parts = Map.of();
    for (int index = 0; index < segments.size(); index++) {
      String wanted = segments.get(index);
      String came = decoded(rawSegments.get(index));
      // A slash in a segment was an escape: data, which no identifier of ours can hold.
      if (came.indexOf('/') >= 0) {
        return Optional.empty();
      }
      if (wanted.startsWith("{") && !came.isEmpty()) {
        parts = parts.isEmpty() ? new HashMap<>() : parts;
        parts.put(wanted.substring(1, wanted.length() - 1), came);
      } else if (!wanted.equals(came)) {
        return Optional.empty();
      }
    }
    return Optional.of(parts);
  }

  /** Percent escapes as UTF-8; a broken escape stays as it is. */
  private static String decoded(String segment) {
    if (segment.indexOf('%') < 0) {
      return segment;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(segment.length());
    for (int at = 0; at < segment.length(); at++) {
      int escaped = segment.charAt(at) == '%' ? escapedByte(segment, at) : -1;
      if (escaped >= 0) {
        bytes.write(escaped);
        at += 2;
      } else {
        bytes.writeBytes(String.valueOf(segment.charAt(at)).getBytes(StandardCharsets.UTF_8));
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static int escapedByte(String segment, int percent) {
    if (percent + 2 >= segment.length()) {
      return -1;
    }
    int high = Character.digit(segment.charAt(percent + 1), HEX);
    int low = Character.digit(segment.charAt(percent + 2), HEX);
    return high < 0 || low < 0 ? -1 : high * HEX + low;
  }
}
