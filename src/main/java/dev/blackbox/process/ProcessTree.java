package dev.blackbox.process;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Finds and ends the processes that belong together: those that a rule names, and all that descend
 * from them. What was found once stays found, also when its parent has ended meanwhile and it looks
 * like nobody's child.
 *
 * <p>Bystanders are safe: each process is named by pid and start time, and is looked at again right
 * before a signal. Our own process and its ancestors are never part of a tree. Not thread-safe.
 */
final class ProcessTree {

  private static final Duration FIRST_PAUSE = Duration.ofMillis(2);
  private static final Duration PAUSE_MAX = Duration.ofMillis(50);

  /** Says of a process whether it belongs here by itself, whoever its parent is. */
  private final Predicate<ProcFs.Stat> rule;

  /** The processes to look at: at least all that can belong here. */
  private final Supplier<List<ProcFs.Stat>> candidates;

  private final Set<ProcessIdentity> found = new LinkedHashSet<>();

  ProcessTree(Predicate<ProcFs.Stat> rule) {
    this(rule, ProcFs::running);
  }

  ProcessTree(Predicate<ProcFs.Stat> rule, Supplier<List<ProcFs.Stat>> candidates) {
    this.rule = rule;
    this.candidates = candidates;
  }

  /** All that was ever found. */
  Set<ProcessIdentity> found() {
    return Set.copyOf(found);
  }

  /** The members that run now. */
  Set<ProcessIdentity> running() {
    List<ProcFs.Stat> all = candidates.get();
    Map<Long, ProcFs.Stat> byPid = new HashMap<>();
    all.forEach(stat -> byPid.put(stat.pid(), stat));
    Set<Long> ourselves = withAncestors(ProcessHandle.current().pid(), byPid);
    Set<Long> members = new HashSet<>();
    for (ProcFs.Stat stat : all) {
      if (!ourselves.contains(stat.pid()) && (found.contains(identity(stat)) || rule.test(stat))) {
        members.add(stat.pid());
      }
    }
    boolean grew = !members.isEmpty();
    while (grew) {
      grew = false;
      for (ProcFs.Stat stat : all) {
        if (members.contains(stat.parent()) && !ourselves.contains(stat.pid())) {
          grew |= members.add(stat.pid());
        }
      }
    }
    Set<ProcessIdentity> running = new LinkedHashSet<>();
    for (ProcFs.Stat stat : all) {
      if (members.contains(stat.pid())) {
        running.add(identity(stat));
      }
    }
    found.addAll(running);
    return running;
  }

  /**
   * Kills until nothing but the spared is left, or the time is over. Processes that are started
   * meanwhile are found in the next round.
   *
   * @return true if nothing is left
   */
  boolean kill(Set<ProcessIdentity> spared, Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    Pause pause = new Pause(FIRST_PAUSE, PAUSE_MAX);
    while (true) {
      Set<ProcessIdentity> left = new LinkedHashSet<>(running());
      left.removeAll(spared);
      if (left.isEmpty()) {
        return true;
      }
      left.forEach(process -> signal(process, Native.SIGKILL));
      if (System.nanoTime() >= deadline) {
        return false;
      }
      pause.take();
    }
  }

  /** Sends a signal to exactly this process; does nothing if its pid is another's now. */
  static void signal(ProcessIdentity process, int signal) {
    if (process.isRunning()) {
      Native.kill(process.pid(), signal);
    }
  }

  static ProcessIdentity identity(ProcFs.Stat stat) {
    return new ProcessIdentity(stat.pid(), stat.startTicks(), ProcFs.machineBootId());
  }

  private static Set<Long> withAncestors(long pid, Map<Long, ProcFs.Stat> byPid) {
    Set<Long> line = new HashSet<>();
    long at = pid;
    while (line.add(at)) {
      ProcFs.Stat stat = byPid.get(at);
      if (stat == null) {
        break;
      }
      at = stat.parent();
    }
    return line;
  }
}
