package dev.blackbox.app;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;

/**
 * The form of a log message: UTC time, level, where from, text; the stack trace of an exception
 * after it. Line breaks in a text become spaces, so that nobody can forge a line.
 */
public final class LogLine extends Formatter {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  private static final String OURS = "dev.blackbox.";

  /** Causes that are shown; a chain may be a circle. */
  private static final int CAUSES_MAX = 8;

  @Override
  public String format(LogRecord record) {
    StringBuilder line = new StringBuilder(160);
    TIME.formatTo(record.getInstant(), line);
    line.append(' ').append(level(record.getLevel().intValue()));
    line.append(' ').append(source(record.getLoggerName())).append("  ");
    line.append(formatMessage(record).replaceAll("[\\r\\n]+", " ")).append('\n');
    @Nullable Throwable thrown = record.getThrown();
    for (int depth = 0; thrown != null && depth < CAUSES_MAX; depth++) {
      line.append(depth == 0 ? "  " : "  caused by ").append(thrown).append('\n');
      for (StackTraceElement frame : thrown.getStackTrace()) {
        line.append("      at ").append(frame).append('\n');
      }
      thrown = thrown.getCause();
    }
    return line.toString();
  }

  private static String level(int value) {
    if (value >= Level.SEVERE.intValue()) {
      return "ERROR  ";
    }
    if (value >= Level.WARNING.intValue()) {
      return "WARNING";
    }
    if (value >= Level.INFO.intValue()) {
      return "INFO   ";
    }
    return value >= Level.FINE.intValue() ? "DEBUG  " : "TRACE  ";
  }

  /** Our loggers by room and type, others by their last word. */
  private static String source(@Nullable String logger) {
    if (logger == null) {
      return "-";
    }
    return logger.startsWith(OURS)
        ? logger.substring(OURS.length())
        : logger.substring(logger.lastIndexOf('.') + 1);
  }
}
