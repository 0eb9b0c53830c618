package dev.blackbox.wire;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * JSON in and out, so that other rooms need not know a library: trees are {@code Map<String,
 * Object>}, {@code List<Object>}, String, Boolean, null and numbers (Integer, Long, BigInteger or
 * Double, as needed); records map to objects with snake_case names. Key order is kept. Depth and
 * sizes are bounded.
 */
public final class Json {

  /**
   * Deepest nesting that is read: far beyond real requests, far below what would overflow a stack.
   */
  public static final int DEPTH_MAX = 200;

  static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .addModule(WellFormedText.module())
          .build();

  static {
    MAPPER
        .getFactory()
        .setStreamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(DEPTH_MAX)
                .maxStringLength(Integer.MAX_VALUE)
                .maxDocumentLength(-1)
                .build());
  }

  /** An engine may give a tool's arguments as an object, whose numbers are to keep their value. */
  private static final ObjectReader TREES =
      MAPPER
          .reader()
          .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .without(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES);

  private static final TypeReference<Map<String, @Nullable Object>> OBJECT =
      new TypeReference<>() {};
  private static final TypeReference<List<@Nullable Object>> ARRAY = new TypeReference<>() {};

  private Json() {}

  /** Reads any JSON value as a tree. */
  public static @Nullable Object parse(byte[] utf8) throws MalformedJsonException {
    try {
      return MAPPER.readValue(utf8, Object.class);
    } catch (IOException malformed) {
      throw MalformedJsonException.from(malformed);
    }
  }

  /** Reads any JSON value as a tree. */
  public static @Nullable Object parse(String text) throws MalformedJsonException {
    try {
      return MAPPER.readValue(text, Object.class);
    } catch (IOException malformed) {
      throw MalformedJsonException.from(malformed);
    }
  }

  /**
   * As {@link #parse(byte[])}, but {@link #write} says each number again as it was read: what goes
   * through a double loses digits, and becomes infinite from 1e309 on. A number of more than 1,000
   * characters is refused.
   */
  public static @Nullable Object parseExactly(byte[] utf8) throws MalformedJsonException {
    try (JsonParser in = MAPPER.getFactory().createParser(utf8)) {
      return ExactTree.read(in);
    } catch (IOException malformed) {
      throw MalformedJsonException.from(malformed);
    }
  }

  /** As {@link #parseExactly(byte[])}. */
  public static @Nullable Object parseExactly(String text) throws MalformedJsonException {
    try (JsonParser in = MAPPER.getFactory().createParser(text)) {
      return ExactTree.read(in);
    } catch (IOException malformed) {
      throw MalformedJsonException.from(malformed);
    }
  }

  /** Reads JSON that we wrote ourselves; anything but an object there is damage, not input. */
  public static Map<String, @Nullable Object> object(String ownText) {
    try {
      return MAPPER.readValue(ownText, OBJECT);
    } catch (IOException damaged) {
      throw new IllegalStateException(
          "not the JSON object that was written: " + ownText.length() + " characters", damaged);
    }
  }

  /** Reads JSON that we wrote ourselves; anything but an array there is damage, not input. */
  public static List<@Nullable Object> array(String ownText) {
    try {
      return MAPPER.readValue(ownText, ARRAY);
    } catch (IOException damaged) {
      throw new IllegalStateException(
          "not the JSON array that was written: " + ownText.length() + " characters", damaged);
    }
  }

  /** Turns a tree that we made ourselves into a record. */
  public static <T> T convert(Map<String, ? extends @Nullable Object> tree, Class<T> type) {
    return MAPPER.convertValue(tree, type);
  }

  /** Turns a record into a tree, in the order of its components. */
  public static Map<String, @Nullable Object> toTree(Object record) {
    return MAPPER.convertValue(record, OBJECT);
  }

  /**
   * Compact JSON of a tree or a record. Strings that are JSON already are embedded with {@link
   * RawJson}.
   */
  public static String write(@Nullable Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException impossible) {
      throw new IllegalArgumentException("cannot be written as JSON", impossible);
    }
  }

  /** As {@link #write}, in UTF-8. */
  public static byte[] writeBytes(@Nullable Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException impossible) {
      throw new IllegalArgumentException("cannot be written as JSON", impossible);
    }
  }

  static JsonNode tree(byte[] utf8) throws MalformedJsonException {
    return tree(ByteSlice.of(utf8));
  }

  static JsonNode tree(ByteSlice utf8) throws MalformedJsonException {
    try {
      return TREES.readTree(utf8.array(), utf8.start(), utf8.length());
    } catch (IOException malformed) {
      throw MalformedJsonException.from(malformed);
    }
  }
}
