package dev.blackbox.app;

import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.kernel.Resource;
import java.net.URI;
import java.nio.file.Path;

/** A server that takes requests. Closing it ends everything that it started, in order. */
public interface RunningServer extends Resource {

  /** What it says about itself when it is ready. */
  Ready ready();

  /**
   * Ends all processes at once, so that a {@link #close} that waits for them goes on. Any thread.
   */
  void hurry();

  /** Opens servers; the command's seam towards the wiring. */
  @FunctionalInterface
  interface Opener {

    /**
     * Recovers, and returns when requests are taken.
     *
     * @throws ExitException if it cannot run here, with everything closed again
     */
    RunningServer open(ServerConfiguration configuration);
  }

  /**
   * A server at its start.
   *
   * @param address where it takes requests, with the real port
   * @param boot number of this boot
   * @param recovered what was found and done about the boot before, in a few words
   */
  record Ready(URI address, Path stateDirectory, long boot, String recovered) {

    /** The one line that {@code serve} prints. */
    String line() {
      return "BlackboxServer "
          + Version.number()
          + " ready at "
          + address
          + ", state in "
          + stateDirectory
          + ", boot "
          + boot
          + ", "
          + recovered;
    }
  }
}
