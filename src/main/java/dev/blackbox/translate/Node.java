package dev.blackbox.translate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One object of an agent's request and its place there. A field that is null is absent. */
record Node(String where, Map<?, ?> fields) {

  static Node root(@Nullable Object tree) throws RequestRefusedException {
    return at("", tree);
  }

  private static Node at(String where, @Nullable Object tree) throws RequestRefusedException {
    if (tree instanceof Map<?, ?> object) {
      return new Node(where, object);
    }
    throw new RequestRefusedException(where.isEmpty() ? "body" : where, "must be an object");
  }

  @Nullable Object get(String key) {
    return fields.get(key);
  }

  boolean has(String key) {
    return fields.get(key) != null;
  }

  /** The field {@code type}, or the empty string. */
  String type() {
    return fields.get("type") instanceof String type ? type : "";
  }

  String place(String key) {
    return where.isEmpty() ? key : where + "." + key;
  }

  RequestRefusedException refused(String key, String why) {
    return new RequestRefusedException(place(key), why);
  }

  Optional<String> text(String key) throws RequestRefusedException {
    Object value = fields.get(key);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String text) {
      return Optional.of(text);
    }
    throw refused(key, "must be a string");
  }

  String requiredText(String key) throws RequestRefusedException {
    Optional<String> text = text(key);
    if (text.isEmpty() || text.get().isEmpty()) {
      throw refused(key, "must be a string that is not empty");
    }
    return text.get();
  }

  boolean flag(String key) throws RequestRefusedException {
    Object value = fields.get(key);
    if (value == null) {
      return false;
    }
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw refused(key, "must be true or false");
  }

  Optional<Number> number(String key) throws RequestRefusedException {
    Object value = fields.get(key);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
      return Optional.of(number);
    }
    throw refused(key, "must be a number");
  }

  /** A count of at least {@code least}. */
  OptionalLong count(String key, long least) throws RequestRefusedException {
    Object value = fields.get(key);
    if (value == null) {
      return OptionalLong.empty();
    }
    if ((value instanceof Integer || value instanceof Long)
        && ((Number) value).longValue() >= least) {
      return OptionalLong.of(((Number) value).longValue());
    }
    throw refused(key, "must be an integer of at least " + least);
  }

  Optional<Node> object(String key) throws RequestRefusedException {
    return has(key) ? Optional.of(at(place(key), fields.get(key))) : Optional.empty();
  }

  /** The objects of a list; none if the field is absent. */
  List<Node> objects(String key) throws RequestRefusedException {
    List<Node> nodes = new ArrayList<>();
    int position = 0;
    for (Object item : list(key)) {
      nodes.add(at(place(key) + "." + position, item));
      position++;
    }
    return nodes;
  }

  List<String> texts(String key) throws RequestRefusedException {
    List<String> texts = new ArrayList<>();
    for (Object item : list(key)) {
      if (!(item instanceof String text)) {
        throw refused(key, "must be a list of strings");
      }
      texts.add(text);
    }
    return texts;
  }

  private List<?> list(String key) throws RequestRefusedException {
    Object value = fields.get(key);
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list) {
      return list;
    }
    throw refused(key, "must be a list");
  }
}
