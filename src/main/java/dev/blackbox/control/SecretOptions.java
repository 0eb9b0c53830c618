package dev.blackbox.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Takes secrets out of option trees before they are shown or stored. */
final class SecretOptions {

  static final String HIDDEN = "***";

  private static final Pattern SECRET_NAME =
      Pattern.compile("(?i).*(api_?key|token|secret|password|authorization|credential).*");

  /** Names that match but hold counts, not secrets. */
  private static final Pattern COUNT_NAME =
      Pattern.compile("(?i).*(_tokens|tokens_.*|max_tokens.*)");

  private SecretOptions() {}

  /** A copy in which every non-empty string under a secret's name is hidden, at any depth. */
  static Map<String, @Nullable Object> hide(Map<?, ?> options) {
    Map<String, @Nullable Object> shown = new LinkedHashMap<>();
    options.forEach(
        (name, value) -> shown.put(String.valueOf(name), hide(String.valueOf(name), value)));
    return shown;
  }

  /** True if a secret was hidden in it, at any depth. */
  static boolean hasHidden(@Nullable Object options) {
    return switch (options) {
      case Map<?, ?> object -> object.values().stream().anyMatch(SecretOptions::hasHidden);
      case List<?> list -> list.stream().anyMatch(SecretOptions::hasHidden);
      case null, default -> HIDDEN.equals(options);
    };
  }

  private static @Nullable Object hide(String name, @Nullable Object value) {
    return switch (value) {
      case Map<?, ?> object -> hide(object);
      case List<?> list -> list.stream().map(entry -> hide(name, entry)).toList();
      case String text when !text.isEmpty() && isSecret(name) -> HIDDEN;
      case null, default -> value;
    };
  }

  private static boolean isSecret(String name) {
    return SECRET_NAME.matcher(name).matches() && !COUNT_NAME.matcher(name).matches();
  }
}
