package dev.blackbox.process;

import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;

/** Starts processes. The one door through which any process of the server comes into being. */
public interface Processes {

  /**
   * Name of the environment variable that marks every process of this server, and all that they
   * start.
   */
  String MARKER_VARIABLE = "BBS_PROCESS_MARKER";

  /**
   * Name of the environment variable that tells the tree of one process of this server from those
   * of the others.
   */
  String ID_VARIABLE = "BBS_PROCESS_ID";

  /**
   * Processes on Linux.
   *
   * @param marker the same for all boots of one server, and for no other server: it is how {@link
   *     #reap} finds what an earlier boot left. No NUL and not empty
   * @param log told of every start and end
   */
  static Processes create(String marker, ProcessLog log) {
    return new LinuxProcesses(marker, log);
  }

  /** Changes when the machine boots, and only then; see {@link ProcessIdentity}. */
  static String machineBootId() {
    return ProcFs.machineBootId();
  }

  /**
   * Ends what an earlier boot of the server left behind (promise P7): recorded processes that still
   * run, with their groups, and every process that carries the marker, with all that descends from
   * them. Never touches this process, its ancestors, or a process that merely has the pid of a
   * recorded one. To be called before this boot starts processes of its own. Needs no privileges.
   *
   * @param recorded processes that are not known to have ended
   * @param within how long to try
   */
  static ReapReport reap(Collection<ProcessIdentity> recorded, String marker, Duration within) {
    return OrphanReaper.reap(recorded, marker, within);
  }

  /**
   * Starts a process and records it before returning.
   *
   * @throws IOException if the program cannot be started; the message names it
   * @throws RuntimeException what the {@link ProcessLog} threw; the process is ended then
   */
  ManagedProcess start(ProcessSpec spec) throws IOException;

  /**
   * For the first process of a pid namespace (pid 1 of a container), which becomes the parent of
   * all orphans: collects those of them that have ended, until it is closed, and never a process
   * that was started here. Elsewhere it finds nothing to do.
   */
  static Resource collectOrphans() {
    return new OrphanCollector();
  }
}
