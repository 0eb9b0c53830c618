package dev.blackbox.translate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The content of one chat message in the making. Text alone becomes a string, joined by line feeds,
 * which every engine's template takes; with an image among it, it becomes a list of parts in order.
 * Empty text is left out, since it poisons a history for good.
 */
final class ContentParts {

  private final List<Map<String, @Nullable Object>> parts = new ArrayList<>();
  private boolean onlyText = true;

  void text(String text) {
    if (!text.isEmpty()) {
      parts.add(textPart(text));
    }
  }

  /** Begins the first text with this; an image, or nothing, gets a text before it. */
  void mark(String beginning) {
    if (!parts.isEmpty() && parts.getFirst().get("text") instanceof String text) {
      parts.set(0, textPart(beginning + text));
    } else {
      parts.addFirst(textPart(beginning.strip()));
    }
  }

  private static Map<String, @Nullable Object> textPart(String text) {
    Map<String, @Nullable Object> part = new LinkedHashMap<>();
    part.put("type", "text");
    part.put("text", text);
    return part;
  }

  void image(String url, Optional<String> detail) {
    Map<String, @Nullable Object> image = new LinkedHashMap<>();
    image.put("url", url);
    detail.ifPresent(value -> image.put("detail", value));
    Map<String, @Nullable Object> part = new LinkedHashMap<>();
    part.put("type", "image_url");
    part.put("image_url", image);
    parts.add(part);
    onlyText = false;
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** A string or a list of parts; the empty string if there is nothing. */
  Object content() {
    return onlyText ? joined() : List.copyOf(parts);
  }

  /** The text alone. */
  String joined() {
    List<String> texts = new ArrayList<>();
    for (Map<String, @Nullable Object> part : parts) {
      if (part.get("text") instanceof String text) {
        texts.add(text);
      }
    }
    return String.join("\n", texts);
  }
}
