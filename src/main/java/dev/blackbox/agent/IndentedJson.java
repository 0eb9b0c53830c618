package dev.blackbox.agent;

import dev.blackbox.wire.Json;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * JSON for files that people read: two blanks per level, empty objects and lists on one line.
 * Source of the form: reference server, section 5.2.
 */
public final class IndentedJson {

  private static final String INDENT = "  ";

  private IndentedJson() {}

  public static String of(@Nullable Object value) {
    return of(value, "\n");
  }

  private static String of(@Nullable Object value, String lineStart) {
    String inner = lineStart + INDENT;
    return switch (value) {
      case Map<?, ?> object when !object.isEmpty() -> {
        StringJoiner members = new StringJoiner("," + inner, "{" + inner, lineStart + "}");
        object.forEach(
            (key, member) ->
                members.add(Json.write(String.valueOf(key)) + ": " + of(member, inner)));
        yield members.toString();
      }
      case List<?> list when !list.isEmpty() -> {
        StringJoiner entries = new StringJoiner("," + inner, "[" + inner, lineStart + "]");
        list.forEach(entry -> entries.add(of(entry, inner)));
        yield entries.toString();
      }
      case null, default -> Json.write(value);
    };
  }
}
