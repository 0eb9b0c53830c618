package dev.blackbox.app;

/**
 * How the program ends. The numbers are a contract with supervisors and scripts: docs/operations.md
 * lists them, and a test compares the two.
 */
public enum ExitCode {
  OK(0, "Done, or ended in order after SIGTERM or SIGINT"),
  INTERNAL(1, "A fault of the program itself; the log says more"),
  USAGE(2, "A bad setting or command line; every mistake is named"),
  OUT_OF_MEMORY(3, "The Java heap was full (the JVM's own code); the next start recovers"),
  PORT_TAKEN(10, "Another program listens on the port"),
  STATE_LOCKED(11, "Another server uses the state directory; its pid is named"),
  NOT_WRITABLE(12, "The runtime root or state directory cannot be written"),
  LEDGER_NEWER(13, "The ledger was written by a newer version of this program"),
  LEDGER_DAMAGED(14, "The ledger, or its history, is not whole"),
  SHUTDOWN_INCOMPLETE(
      15, "The orderly end took too long or was cut short; nothing acknowledged is lost"),
  NOT_SHOWN(16, "The demo could not show what it claims"),
  NO_JDK(20, "The launcher found no JDK that is new enough, or the program is not built");

  private final int number;
  private final String meaning;

  ExitCode(int number, String meaning) {
    this.number = number;
    this.meaning = meaning;
  }

  public int number() {
    return number;
  }

  public String meaning() {
    return meaning;
  }
}
