package dev.blackbox.wire;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a tree whose numbers are those of the text. Of a repeated key the last value counts, as in
 * the other trees and in JavaScript.
 */
final class ExactTree {

  private ExactTree() {}

  /** Reads all that the parser has. */
  static @Nullable Object read(JsonParser in) throws IOException, MalformedJsonException {
    if (in.nextToken() == null) {
      throw MalformedJsonException.because("not valid JSON: there is nothing");
    }
    Object tree = value(in);
    if (in.nextToken() != null) {
      throw MalformedJsonException.at(
          "not valid JSON: more follows", in.currentTokenLocation().getByteOffset());
    }
    return tree;
  }

  /** The parser bounds how deep this goes. */
  private static @Nullable Object value(JsonParser in) throws IOException {
    return switch (in.currentToken()) {
      case START_OBJECT -> object(in);
      case START_ARRAY -> array(in);
      case VALUE_STRING -> in.getText();
      case VALUE_NUMBER_INT -> integer(in);
      case VALUE_NUMBER_FLOAT -> new ExactNumber(in.getText());
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      case FIELD_NAME, END_OBJECT, END_ARRAY, NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT ->
          throw new IllegalStateException("no value begins with " + in.currentToken());
    };
  }

  private static Number integer(JsonParser in) throws IOException {
    String text = in.getText();
    return text.equals("-0") ? new ExactNumber(text) : in.getNumberValue();
  }

  private static Map<String, @Nullable Object> object(JsonParser in) throws IOException {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    for (String key = in.nextFieldName(); key != null; key = in.nextFieldName()) {
      in.nextToken();
      object.put(key, value(in));
    }
    return object;
  }

  private static List<@Nullable Object> array(JsonParser in) throws IOException {
    List<@Nullable Object> array = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      array.add(value(in));
    }
    return array;
  }
}
