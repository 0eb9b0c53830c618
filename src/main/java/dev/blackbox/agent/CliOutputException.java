package dev.blackbox.agent;

import dev.blackbox.agent.AgentResult.Kind;

/** What a CLI agent printed cannot be accepted; its turn is ended at once. */
public final class CliOutputException extends Exception {

  private final Kind kind;

  private CliOutputException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /**
   * @param message to be read after the agent's name
   */
  public static CliOutputException transport(String message) {
    return new CliOutputException(Kind.TRANSPORT, message);
  }

  /**
   * @param message to be read after the agent's name
   */
  public static CliOutputException protocol(String message) {
    return new CliOutputException(Kind.PROTOCOL, message);
  }

  public Kind kind() {
    return kind;
  }

  public String text() {
    return String.valueOf(getMessage());
  }
}
