package dev.blackbox.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/** The shipped defaults, {@code config/defaults.properties}. */
public final class Defaults {

  private static final String RESOURCE = "/config/defaults.properties";

  private Defaults() {}

  /** A value for every setting, and nothing else: a file that does not fit is a broken build. */
  public static Map<Setting, String> shipped() {
    Properties file = load();
    Map<Setting, String> defaults = new EnumMap<>(Setting.class);
    Set<String> surplus = new TreeSet<>(file.stringPropertyNames());
    for (Setting setting : Setting.values()) {
      String value = file.getProperty(setting.key());
      if (value == null) {
        throw new IllegalStateException(RESOURCE + " has no " + setting.key());
      }
      surplus.remove(setting.key());
      defaults.put(setting, value.strip());
    }
    if (!surplus.isEmpty()) {
      throw new IllegalStateException(RESOURCE + " has what is no setting: " + surplus);
    }
    return defaults;
  }

  private static Properties load() {
    Properties file = new Properties();
    try (InputStream bytes = Defaults.class.getResourceAsStream(RESOURCE)) {
      if (bytes == null) {
        throw new IllegalStateException(RESOURCE + " is missing from the program");
      }
      file.load(new InputStreamReader(bytes, StandardCharsets.UTF_8));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(RESOURCE + " cannot be read", unreadable);
    }
    return file;
  }
}
