package dev.blackbox.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;

/**
 * Writes strings so that the result is Unicode: half a surrogate pair, as JSON escapes can smuggle
 * in and as cutting a string can leave behind, becomes U+FFFD. Without this one such character
 * would make an answer unwritable.
 */
final class WellFormedText extends JsonSerializer<String> {

  private static final char REPLACEMENT = '\uFFFD';

  static SimpleModule module() {
    SimpleModule module = new SimpleModule("well-formed text");
    module.addSerializer(String.class, new WellFormedText());
    module.addKeySerializer(String.class, new Keys());
    return module;
  }

  @Override
  public void serialize(String value, JsonGenerator out, SerializerProvider context)
      throws IOException {
    out.writeString(wellFormed(value));
  }

  static boolean isWellFormed(String text) {
    return unpairedFrom(text, 0) < 0;
  }

  static String wellFormed(String text) {
    int bad = unpairedFrom(text, 0);
    if (bad < 0) {
      return text;
    }
    StringBuilder repaired = new StringBuilder(text);
    for (int at = bad; at >= 0; at = unpairedFrom(text, at + 1)) {
      repaired.setCharAt(at, REPLACEMENT);
    }
    return repaired.toString();
  }

  private static int unpairedFrom(String text, int start) {
    int at = start;
    while (at < text.length()) {
      // Almost every character ends here.
      if (!Character.isSurrogate(text.charAt(at))) {
        at++;
      } else if (isPair(text, at)) {
        at += 2;
      } else {
        return at;
      }
    }
    return -1;
  }

  private static boolean isPair(String text, int at) {
    return at + 1 < text.length()
        && Character.isSurrogatePair(text.charAt(at), text.charAt(at + 1));
  }

  private static final class Keys extends JsonSerializer<String> {
    @Override
    public void serialize(String key, JsonGenerator out, SerializerProvider context)
        throws IOException {
      out.writeFieldName(wellFormed(key));
    }
  }
}
