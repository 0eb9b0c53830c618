package dev.blackbox.app;

import dev.blackbox.config.Setting;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Recognises the command line of a plain {@code serve}: nothing but settings, each once, as {@code
 * --name=value} or {@code --name value}. Whatever else there is, help and mistakes included, is the
 * command line library's.
 */
final class PlainServe {

  private PlainServe() {}

  /** The options of a plain {@code serve}, or empty. */
  static Optional<Map<Setting, String>> options(String[] arguments) {
    if (arguments.length == 0 || !arguments[0].equals("serve")) {
      return Optional.empty();
    }
    Map<String, Setting> known = new HashMap<>();
    for (Setting setting : Setting.values()) {
      if (setting.isOption()) {
        known.put(setting.option(), setting);
      }
    }
    Map<Setting, String> options = new EnumMap<>(Setting.class);
    int next = 1;
    while (next < arguments.length) {
      String argument = arguments[next++];
      int equals = argument.indexOf('=');
      Setting setting = known.get(equals < 0 ? argument : argument.substring(0, equals));
      boolean hasValue =
          equals >= 0 || (next < arguments.length && !arguments[next].startsWith("-"));
      if (setting == null || !hasValue) {
        return Optional.empty();
      }
      String value = equals >= 0 ? argument.substring(equals + 1) : arguments[next++];
      if (options.put(setting, value) != null) {
        return Optional.empty();
      }
    }
    return Optional.of(options);
  }
}
