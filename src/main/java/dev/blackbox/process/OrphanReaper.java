package dev.blackbox.process;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Ends what an earlier boot of the server left behind (promise P7): the processes that it recorded,
 * with their groups, and whatever carries its marker, with all that descends from them. A process
 * that merely has the pid of a recorded one is not touched: start time and machine boot differ.
 */
final class OrphanReaper {

  private OrphanReaper() {}

  static ReapReport reap(Collection<ProcessIdentity> recorded, String marker, Duration within) {
    Map<Long, ProcessIdentity> leaders = new HashMap<>();
    for (ProcessIdentity process : recorded) {
      // A leader that is gone vouches for nobody: its pid may have been another's meanwhile. What
      // is left of its tree carries the marker.
      if (process.isRunning()) {
        leaders.put(process.pid(), process);
      }
    }
    ProcessTree tree =
        new ProcessTree(
            stat ->
                belongsTo(leaders, stat)
                    || ProcFs.hasVariable(stat.pid(), Processes.MARKER_VARIABLE, marker));
    boolean complete = tree.kill(Set.of(), within);
    Set<ProcessIdentity> left = complete ? Set.of() : new LinkedHashSet<>(tree.running());
    return new ReapReport(tree.found().size() - left.size(), left);
  }

  /** A group keeps its leader's pid from being used again, so a new leader means a new group. */
  private static boolean belongsTo(Map<Long, ProcessIdentity> leaders, ProcFs.Stat stat) {
    ProcessIdentity leader = leaders.get(stat.session());
    if (leader == null) {
      leader = leaders.get(stat.group());
    }
    return leader != null
        && ProcFs.stat(leader.pid()).map(leader::names).orElse(true)
        && stat.startTicks() >= leader.startTicks();
  }
}
