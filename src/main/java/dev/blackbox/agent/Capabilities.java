package dev.blackbox.agent;

/** What a backend can do, as the HTTP API reports it. */
public record Capabilities(
    boolean chat,
    boolean abort,
    boolean pauseResume,
    boolean stream,
    boolean multiMessageInput,
    boolean systemMessage,
    boolean historyInjection) {

  /** What all four backends of the reference report. */
  public static final Capabilities STANDARD =
      new Capabilities(true, true, true, false, false, true, false);
}
