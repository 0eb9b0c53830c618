package dev.blackbox.wire;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON that a stranger sent, as leniently as the reference server does (a byte order mark,
 * {@code NaN} and {@code Infinity}, and a repeated key, whose last value counts), but within bounds
 * of depth and size and only as well-formed UTF-8.
 */
public final class RequestJson {

  /** Values, keys and brackets of one request: far beyond real ones, and small enough to hold. */
  public static final int TOKENS_MAX = 1_000_000;

  private static final ObjectReader READER =
      JsonMapper.builder()
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build()
          .readerFor(Object.class);

  static {
    READER
        .getFactory()
        .setStreamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(Json.DEPTH_MAX)
                .maxTokenCount(TOKENS_MAX)
                .maxStringLength(Integer.MAX_VALUE)
                .build());
  }

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private static final int CHECKED_AT_ONCE = 8192;

  private RequestJson() {}

  /** The tree of one JSON text, in the types that {@link Json} names. */
  public static @Nullable Object parse(byte[] body) throws MalformedJsonException {
    int start = startsWithByteOrderMark(body) ? BYTE_ORDER_MARK.length : 0;
    requireUtf8(body, start);
    try {
      return READER.readValue(body, start, body.length - start);
    } catch (IOException malformed) {
      throw MalformedJsonException.from(malformed);
    }
  }

  /** False if a string holds half a surrogate pair, which an escape can say and UTF-8 cannot. */
  public static boolean isWellFormed(String text) {
    return WellFormedText.isWellFormed(text);
  }

  private static boolean startsWithByteOrderMark(byte[] body) {
    return body.length >= BYTE_ORDER_MARK.length
        && body[0] == BYTE_ORDER_MARK[0]
        && body[1] == BYTE_ORDER_MARK[1]
        && body[2] == BYTE_ORDER_MARK[2];
  }

  /** The JSON parser itself lets overlong forms and lone surrogates pass. */
  private static void requireUtf8(byte[] body, int start) throws MalformedJsonException {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(body, start, body.length - start);
    CharBuffer scratch = CharBuffer.allocate(CHECKED_AT_ONCE);
    CoderResult result;
    do {
      scratch.clear();
      result = decoder.decode(in, scratch, true);
    } while (result.isOverflow());
    if (result.isError()) {
      throw MalformedJsonException.at("not valid UTF-8", in.position());
    }
  }
}
