package dev.blackbox.ledger;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Keeps the server's log out of the build's while the tests of a class run: what happens there on
 * purpose, hundreds of times, would hide what nobody expects.
 */
public final class QuietLog implements BeforeAllCallback, AfterAllCallback {

  // Held, because a logger that nobody holds forgets its level.
  private static final Logger LOG = Logger.getLogger("dev.blackbox");

  private Level before = Level.INFO;

  @Override
  public void beforeAll(ExtensionContext context) {
    before = LOG.getLevel();
    LOG.setLevel(Level.OFF);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    LOG.setLevel(before);
  }
}
