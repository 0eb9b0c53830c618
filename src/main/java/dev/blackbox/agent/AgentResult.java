package dev.blackbox.agent;

import dev.blackbox.turn.Work;

/** How a turn ended from the agent's side. The work done so far is in each of them. */
public sealed interface AgentResult {

  Work work();

  /** A complete answer. */
  record Answered(Work work) implements AgentResult {}

  /** Ended because {@link Agent#stop} was called. */
  record Stopped(Work work) implements AgentResult {}

  /**
   * Ended badly.
   *
   * @param message what went wrong, with the last lines of the agent's errors; told to the caller
   */
  record Broken(Kind kind, String message, Work work) implements AgentResult {}

  /**
   * Ended because the agent's own limit of model calls per turn was reached.
   *
   * @param stepsMax that limit
   * @param message the agent's words; told to the caller
   */
  record OutOfSteps(long stepsMax, String message, Work work) implements AgentResult {}

  /** What a failure says about the agent. Source: the reference server's error taxonomy. */
  enum Kind {
    /** The agent's process or program is gone or unusable: the server goes to {@code error}. */
    PROCESS,
    /** It answered badly or not at all. */
    TRANSPORT,
    /** It answered something that is not understood. */
    PROTOCOL,
    /** A surprise in our own code or in the operating system. */
    UNEXPECTED
  }
}
