package dev.blackbox.agent;

import dev.blackbox.turn.Work;
import java.util.List;
import java.util.Optional;

/** What one run of a CLI agent is given, and what it makes of the answer. For one thread. */
public interface CliTurn {

  /** Arguments after the program. No prompt and no secret: the prompt is standard input. */
  List<String> arguments();

  /**
   * One line of standard output.
   *
   * @throws CliOutputException if the run must be ended because of it
   */
  void line(byte[] line) throws CliOutputException;

  /** Puts a remark of ours into the trace. */
  void note(String remark);

  /** The final event was seen, and nothing that would be followed by another is at work. */
  boolean isComplete();

  /**
   * After a run that refused its session before any work: the run to do in its place. Empty if the
   * run is to be judged.
   */
  Optional<CliTurn> again(CliExit exit);

  /** The run has ended by itself, or was ended after its final event. */
  AgentResult judge(CliExit exit);

  /** What was done so far. */
  Work work();
}
