package dev.blackbox.http;

import dev.blackbox.kernel.Resource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Listens to what one class logs, or all, at the level that is the default, and asks for more on
 * demand.
 */
public final class LogCapture extends Handler implements Resource {

  private final Logger logger;
  private final @Nullable Level levelBefore;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  LogCapture(Class<?> source) {
    this(source.getName());
  }

  private LogCapture(String name) {
    logger = Logger.getLogger(name);
    levelBefore = logger.getLevel();
    // Whatever another test has set up: this is what a server says at its default level.
    logger.setLevel(Level.INFO);
    logger.addHandler(this);
  }

  /** What all say, libraries too. */
  public static LogCapture ofAll() {
    return new LogCapture("");
  }

  void everything() {
    logger.setLevel(Level.ALL);
  }

  /** Level and message of each line, oldest first. */
  public List<String> lines() {
    return lines;
  }

  @Override
  public void publish(LogRecord record) {
    lines.add(record.getLevel() + " " + record.getMessage());
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setLevel(levelBefore);
  }
}
