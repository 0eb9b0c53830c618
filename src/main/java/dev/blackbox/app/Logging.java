package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/**
 * One quiet line per message on standard error. Libraries are heard from warnings on, whatever the
 * level of our own rooms.
 *
 * <p>It is the {@code java.util.logging.config.class} too, because Helidon looks for a file named
 * logging.properties in the working directory and on the class path unless that property is set.
 */
public final class Logging {

  private static final String CONFIG_CLASS = "java.util.logging.config.class";
  private static final String LEVEL = "bbs.log.level";

  /** Called by the log manager, whenever it reads its configuration. */
  public Logging() {
    String level = System.getProperty(LEVEL, "INFO");
    String text =
        """
        handlers=java.util.logging.ConsoleHandler
        java.util.logging.ConsoleHandler.level=ALL
        java.util.logging.ConsoleHandler.formatter=%s
        .level=WARNING
        dev.blackbox.level=%s
        """
            .formatted(LogLine.class.getName(), level);
    try {
      LogManager.getLogManager()
          .readConfiguration(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Sets it up for the whole process. */
  static void start(LogLevel level) {
    System.setProperty(LEVEL, julName(level));
    System.setProperty(CONFIG_CLASS, Logging.class.getName());
    try {
      LogManager.getLogManager().readConfiguration();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static String julName(LogLevel level) {
    return switch (level) {
      case ERROR -> "SEVERE";
      case WARNING -> "WARNING";
      case INFO -> "INFO";
      case DEBUG -> "FINE";
      case TRACE -> "FINEST";
    };
  }
}
