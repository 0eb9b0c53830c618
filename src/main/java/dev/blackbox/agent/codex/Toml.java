package dev.blackbox.agent.codex;

import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The little of TOML 1.0 that Codex's files need. */
final class Toml {

  private final List<String> groups = new ArrayList<>();

  /**
   * A string as TOML writes it: as JSON does, but for the one control character that JSON leaves
   * alone.
   */
  static String string(String value) {
    return Json.write(value).replace("\u007f", "\\u007F");
  }

  /** Lines of keys and values, separated from those before by a blank line. */
  Toml keys(Map<String, ?> values) {
    groups.add(lines(values));
    return this;
  }

  Toml table(String name, Map<String, ?> values) {
    groups.add("[" + name + "]\n" + lines(values));
    return this;
  }

  private static String lines(Map<String, ?> values) {
    StringBuilder lines = new StringBuilder();
    values.forEach(
        (key, value) -> lines.append(key).append(" = ").append(value(value)).append('\n'));
    return lines.toString();
  }

  private static String value(Object value) {
    return switch (value) {
      case String text -> string(text);
      case List<?> list -> "[" + String.join(", ", list.stream().map(Toml::value).toList()) + "]";
      default -> value.toString();
    };
  }

  @Override
  public String toString() {
    return String.join("\n", groups);
  }
}
