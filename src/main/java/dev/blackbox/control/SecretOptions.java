package dev.blackbox.control;

import dev.blackbox.kernel.Secret;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Knows by their names which values of option trees, and of the environment, are secrets. */
public final class SecretOptions {

  static final String HIDDEN = "***";

  private static final Pattern SECRET_NAME =
      Pattern.compile("(?i).*(api_?key|token|secret|password|authorization|credential).*");

  /** Names that match but hold counts, not secrets. */
  private static final Pattern COUNT_NAME =
      Pattern.compile("(?i).*(_tokens|tokens_.*|max_tokens.*)");

  /** Not among {@link #SECRET_NAME}, which decides about stored configurations and their hash. */
  private static final Pattern MORE_NAMES =
      Pattern.compile("(?i).*(access_?key|private_?key|passwd|passphrase).*");

  /** Names of values that only say where a secret is. */
  private static final Pattern PLACE_NAME = Pattern.compile("(?i).*_(file|path|dir|url|uri)");

  private SecretOptions() {}

  /** Every string under a secret's name, at any depth. */
  public static List<Secret> secrets(Map<?, ?> tree) {
    List<Secret> found = new ArrayList<>();
    tree.forEach((name, value) -> collect(String.valueOf(name), value, found));
    return found;
  }

  private static void collect(String name, @Nullable Object value, List<Secret> found) {
    switch (value) {
      case Map<?, ?> object -> found.addAll(secrets(object));
      case List<?> list -> list.forEach(entry -> collect(name, entry, found));
      case String text when isWorthHiding(name) -> found.add(Secret.of(text));
      case null, default -> {}
    }
  }

  private static boolean isWorthHiding(String name) {
    return (isSecret(name) || MORE_NAMES.matcher(name).matches())
        && !PLACE_NAME.matcher(name).matches();
  }

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
