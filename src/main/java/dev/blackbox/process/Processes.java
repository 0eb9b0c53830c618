package dev.blackbox.process;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Starts processes. The one door through which any process of the server comes into being. */
public interface Processes {

  /**
   * Name of the environment variable that marks every process of this server, and all that they
   * start.
   */
  String MARKER_VARIABLE = "BBS_PROCESS_MARKER";

  /**
   * Starts a process and records it before returning.
   *
   * @throws IOException if the program cannot be started; the message names it
   */
  ManagedProcess start(ProcessSpec spec) throws IOException;

  /** Ends what an earlier boot left, see the report. */
  ReapReport reap(List<ProcessIdentity> recorded, Duration within);

  /** Reaped. */
  record ReapReport(int endedCount, List<ProcessIdentity> survivors) {}
}
