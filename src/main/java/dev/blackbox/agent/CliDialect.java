package dev.blackbox.agent;

import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** What differs between the agents that run one process per turn. Knows the agent's session. */
public interface CliDialect {

  /** The backend's type: names its logs, and begins its messages. */
  String type();

  Path program();

  /** What names the program, for messages. */
  String programVariable();

  /** Where the agent works. */
  Path directory();

  /** Writes all that the agent reads at its start; what an agent changed there is undone. */
  void prepare() throws IOException;

  /**
   * The variables of one run.
   *
   * @param modelKey what it must present to its model
   */
  Map<String, String> environment(Secret modelKey);

  /** Tells the task the agent's session id if it is known, and returns the run to do. */
  CliTurn begin(AgentTask task);
}
