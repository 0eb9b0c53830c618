package dev.blackbox.http;

import dev.blackbox.wire.MalformedJsonException;
import dev.blackbox.wire.RequestJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a request carried: its bytes, and the media type that it claims for them. */
final class Body {

  static final Body NONE = new Body(new byte[0], Optional.empty());

  private static final List<Object> PLACE = List.of("body");

  /**
   * Identifiers and commands have rules of their own, which answer a NUL more exactly; everywhere
   * else it would travel on to files and processes that cannot hold one.
   */
  private static final Set<String> NUL_CHECKED_ELSEWHERE =
      Set.of("turn_id", "cmd", "bound_session_id", "bound_instance_id");

  private final byte[] bytes;
  private final Optional<String> contentType;

  /**
   * @param contentType as it came; empty if the client said nothing
   */
  Body(byte[] bytes, Optional<String> contentType) {
    this.bytes = bytes;
    this.contentType = contentType;
  }

  /**
   * The fields of a JSON object that must be there. Faults are those of the reference server: a
   * body of another media type is a string, which is not an object.
   */
  Fields required(Faults faults) {
    Object tree = bytes.length == 0 ? null : tree(faults);
    faults.throwIfAny();
    if (tree == null) {
      faults.add("missing", PLACE, "Field required", null);
      faults.throwIfAny();
    }
    return Fields.of(tree, PLACE, faults);
  }

  /** As {@link #required}, but nothing, or null, counts as an object without fields. */
  Fields optional(Faults faults) {
    Object tree = bytes.length == 0 ? null : tree(faults);
    faults.throwIfAny();
    return Fields.of(tree == null ? Map.of() : tree, PLACE, faults);
  }

  private @Nullable Object tree(Faults faults) {
    if (!isJson()) {
      faults.add(
          "model_attributes_type",
          PLACE,
          "Input should be a JSON object, sent with content-type application/json",
          contentType.orElse(null));
      return null;
    }
    try {
      Object tree = RequestJson.parse(bytes);
      checkText(tree, new ArrayList<>(PLACE), faults);
      return tree;
    } catch (MalformedJsonException malformed) {
      String reason = String.valueOf(malformed.getMessage());
      faults.add(
          "json_invalid",
          List.of("body", malformed.byteOffset()),
          "JSON decode error",
          Map.of(),
          Map.of("error", reason));
      return null;
    }
  }

  private boolean isJson() {
    if (contentType.isEmpty()) {
      return true;
    }
    String mediaType = contentType.get().split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    return mediaType.equals("application/json")
        || (mediaType.startsWith("application/") && mediaType.endsWith("+json"));
  }

  /** Depth is bounded by the parser. */
  private static void checkText(@Nullable Object value, List<Object> place, Faults faults) {
    switch (value) {
      case String text -> checkString(text, place, faults);
      case Map<?, ?> object ->
          object.forEach(
              (key, member) -> {
                place.add(String.valueOf(key));
                checkString(String.valueOf(key), place, faults);
                checkText(member, place, faults);
                place.removeLast();
              });
      case List<?> list -> {
        for (int index = 0; index < list.size(); index++) {
          place.add(index);
          checkText(list.get(index), place, faults);
          place.removeLast();
        }
      }
      case null, default -> {}
    }
  }

  private static void checkString(String text, List<Object> place, Faults faults) {
    if (!RequestJson.isWellFormed(text)) {
      faults.add(
          "string_unicode",
          place,
          "Input should be a valid string, unable to parse raw data as a unicode string",
          null);
    }
    boolean checkedElsewhere =
        place.size() == 2 && NUL_CHECKED_ELSEWHERE.contains(String.valueOf(place.get(1)));
    if (!checkedElsewhere && text.indexOf('\0') >= 0) {
      faults.add("string_nul", place, "Input should be a string without NUL characters", null);
    }
  }
}
