package dev.blackbox.wire;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Finds what is not text in JSON bytes: malformed UTF-8, and escapes of surrogates that have no
 * partner. Both pass many JSON parsers and fail later, in somebody else's code.
 */
final class Utf8Check {

  private static final int CHARACTERS_AT_ONCE = 8 << 10;
  private static final int ESCAPE_LENGTH = 6;

  private Utf8Check() {}

  static void check(byte[] json) throws InvalidChatRequestException {
    checkEncoding(json);
    checkEscapes(json);
  }

  private static void checkEncoding(byte[] json) throws InvalidChatRequestException {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(json);
    CharBuffer discarded = CharBuffer.allocate(CHARACTERS_AT_ONCE);
    CoderResult result;
    do {
      discarded.clear();
      result = decoder.decode(in, discarded, true);
    } while (result.isOverflow());
    if (result.isError()) {
      throw new InvalidChatRequestException("the body is not UTF-8 at byte " + in.position());
    }
  }

  private static void checkEscapes(byte[] json) throws InvalidChatRequestException {
    int i = 0;
    while (i < json.length) {
      if (json[i] != '\\') {
        i++;
        continue;
      }
      int unit = escapedUnit(json, i);
      if (unit < 0 || !Character.isSurrogate((char) unit)) {
        i += 2;
        continue;
      }
      int next = escapedUnit(json, i + ESCAPE_LENGTH);
      if (next < 0 || !Character.isSurrogatePair((char) unit, (char) next)) {
        throw new InvalidChatRequestException("a lone surrogate is escaped at byte " + i);
      }
      i += 2 * ESCAPE_LENGTH;
    }
  }

  /** The UTF-16 unit of the backslash-u escape that begins here, or -1 if none does. */
  private static int escapedUnit(byte[] json, int at) {
    if (at + ESCAPE_LENGTH > json.length || json[at] != '\\' || json[at + 1] != 'u') {
      return -1;
    }
    int unit = 0;
    for (int i = at + 2; i < at + ESCAPE_LENGTH; i++) {
      int digit = Character.digit(json[i], 16);
      if (digit < 0) {
        return -1;
      }
      unit = unit * 16 + digit;
    }
    return unit;
  }
}
