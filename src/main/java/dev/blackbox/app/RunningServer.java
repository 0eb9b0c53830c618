package dev.blackbox.app;

import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.LedgerFacts;
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
   * @param binding the binding that was restored, in a few words; empty if there was none
   */
  record Ready(
      URI address,
      Path stateDirectory,
      long boot,
      LedgerFacts.Recovered recovered,
      String binding) {

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
          + ", recovered: "
          + recoveredInWords();
    }

    private String recoveredInWords() {
      StringBuilder words = new StringBuilder();
      add(words, recovered.turnsInterrupted(), "interrupted turn");
      add(words, recovered.turnsQueued(), "queued turn");
      add(words, recovered.callsInterrupted(), "interrupted model call");
      add(words, recovered.commandsInterrupted(), "interrupted command");
      add(words, recovered.factsApplied(), "fact from the journal");
      if (!binding.isEmpty()) {
        words.append(words.isEmpty() ? "" : ", ").append(binding);
      }
      return words.isEmpty() ? "nothing" : words.toString();
    }

    private static void add(StringBuilder words, long count, String what) {
      if (count == 0) {
        return;
      }
      words.append(words.isEmpty() ? "" : ", ").append(count).append(' ');
      words.append(count == 1 ? what : plural(what));
    }

    private static String plural(String what) {
      return what.startsWith("fact ") ? what.replaceFirst("fact", "facts") : what + "s";
    }
  }
}
