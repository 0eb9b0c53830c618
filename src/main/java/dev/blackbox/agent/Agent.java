package dev.blackbox.agent;

import dev.blackbox.kernel.Resource;
import java.time.Duration;

/**
 * One running agent, bound to one session. {@link #run} is called by one thread at a time; {@link
 * #stop}, {@link #healthy} and {@link #close} may be called by any thread at any time. Closing ends
 * the whole tree of processes.
 */
public interface Agent extends Resource {

  /** One look, at most two seconds: can it take a turn? A busy agent is healthy. */
  boolean healthy();

  /**
   * One turn, from prompt to final answer. Blocks until the agent has ended it, however that goes,
   * or until {@link #stop} made it end. Has no time limit of its own.
   */
  AgentResult run(AgentTask task);

  /**
   * Makes the turn that runs, if any, end now, and waits until that is proved: the agent has ended
   * the turn and what it started for it is gone.
   *
   * @param within how long to try
   */
  StopReport stop(Duration within);

  /**
   * What {@link #stop} achieved.
   *
   * @param stoppedSomething false if no turn was running
   * @param proved true if nothing of the turn can still be at work
   * @param reason why it could not be proved; empty otherwise
   */
  record StopReport(boolean stoppedSomething, boolean proved, String reason) {

    public static final StopReport NOTHING = new StopReport(false, true, "");
    public static final StopReport STOPPED = new StopReport(true, true, "");

    public static StopReport unproved(String reason) {
      return new StopReport(true, false, reason);
    }
  }
}
