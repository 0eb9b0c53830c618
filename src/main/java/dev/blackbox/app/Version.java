package dev.blackbox.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** What this program is. */
final class Version {

  private static final String RESOURCE = "version.properties";

  private Version() {}

  /** Version of the project, as the build knows it. */
  static String number() {
    Properties file = new Properties();
    try (InputStream bytes = Version.class.getResourceAsStream(RESOURCE)) {
      if (bytes == null) {
        throw new IllegalStateException(RESOURCE + " is missing from the program");
      }
      file.load(bytes);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(RESOURCE + " cannot be read", unreadable);
    }
    return file.getProperty("version", "unknown");
  }

  /** One line for {@code --version}. */
  static String line() {
    return "BlackboxServer " + number() + " (Java " + Runtime.version() + ")";
  }
}
