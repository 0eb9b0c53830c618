package dev.blackbox.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A look over one streamed chunk that decides whether it must be parsed: in one pass and without
 * allocation, since there are thousands of chunks for each one that matters.
 */
enum ChunkScan {
  /** A balanced JSON object that says nothing of interest. */
  PLAIN,
  /** Has a finish reason, usage, tool calls or an error, or does not look like a JSON object. */
  TO_PARSE;

  private static final byte[] FINISH_REASON = ascii("finish_reason");
  private static final byte[] USAGE = ascii("usage");
  private static final byte[] TOOL_CALLS = ascii("tool_calls");
  private static final byte[] FUNCTION_CALL = ascii("function_call");
  private static final byte[] ERROR = ascii("error");

  static ChunkScan of(ByteSlice data) {
    byte[] bytes = data.array();
    int end = data.end();
    int position = skipSpace(bytes, data.start(), end);
    if (position == end || bytes[position] != '{') {
      return TO_PARSE;
    }
    int depth = 0;
    while (position < end) {
      switch (bytes[position]) {
        case '{', '[' -> depth++;
        case '}', ']' -> depth--;
        case '"' -> {
          int close = endOfString(bytes, position + 1, end);
          if (close == end || matters(bytes, position + 1, close, end)) {
            return TO_PARSE;
          }
          position = close;
        }
        default -> {}
      }
      position++;
      if (depth == 0) {
        return skipSpace(bytes, position, end) == end ? PLAIN : TO_PARSE;
      }
    }
    return TO_PARSE;
  }

  /** Inside JSON text an unescaped {@code "error"} is a whole key or a whole value, never prose. */
  private static boolean matters(byte[] bytes, int start, int close, int end) {
    return switch (close - start) {
      case 5 ->
          is(ERROR, bytes, start, close)
              || (is(USAGE, bytes, start, close) && valueIs('{', bytes, close + 1, end));
      case 10 -> is(TOOL_CALLS, bytes, start, close) && valueIs('[', bytes, close + 1, end);
      case 13 ->
          (is(FINISH_REASON, bytes, start, close) && valueIs('"', bytes, close + 1, end))
              || (is(FUNCTION_CALL, bytes, start, close) && valueIs('{', bytes, close + 1, end));
      default -> false;
    };
  }

  private static boolean valueIs(char first, byte[] bytes, int afterKey, int end) {
    int position = skipSpace(bytes, afterKey, end);
    if (position == end || bytes[position] != ':') {
      return false;
    }
    position = skipSpace(bytes, position + 1, end);
    return position < end && bytes[position] == first;
  }

  private static int endOfString(byte[] bytes, int from, int end) {
    int position = from;
    while (position < end && bytes[position] != '"') {
      position += bytes[position] == '\\' ? 2 : 1;
    }
    return Math.min(position, end);
  }

  private static int skipSpace(byte[] bytes, int from, int end) {
    int position = from;
    while (position < end
        && (bytes[position] == ' '
            || bytes[position] == '\t'
            || bytes[position] == '\n'
            || bytes[position] == '\r')) {
      position++;
    }
    return position;
  }

  private static boolean is(byte[] word, byte[] bytes, int start, int close) {
    return Arrays.equals(bytes, start, close, word, 0, word.length);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
