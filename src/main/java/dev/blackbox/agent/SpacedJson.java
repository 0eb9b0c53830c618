package dev.blackbox.agent;

import dev.blackbox.wire.Json;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * JSON inside strings, such as the arguments of a tool call: with a space after each comma and
 * colon and with non-ASCII characters as themselves. Source: reference server, section 14; its
 * clients compare such texts literally.
 */
public final class SpacedJson {

  private SpacedJson() {}

  public static String of(@Nullable Object value) {
    return switch (value) {
      case Map<?, ?> object -> {
        StringJoiner members = new StringJoiner(", ", "{", "}");
        object.forEach(
            (key, member) -> members.add(Json.write(String.valueOf(key)) + ": " + of(member)));
        yield members.toString();
      }
      case List<?> list -> {
        StringJoiner entries = new StringJoiner(", ", "[", "]");
        list.forEach(entry -> entries.add(of(entry)));
        yield entries.toString();
      }
      case null, default -> Json.write(value);
    };
  }
}
