package dev.blackbox.process;

import java.util.Optional;

/**
 * Names one process for ever: a pid alone is used again by the kernel.
 *
 * @param pid also the number of its process group and session
 * @param startTicks field 22 of {@code /proc/<pid>/stat}: clock ticks since the machine booted; 0
 *     if the process was gone before that could be read
 * @param machineBootId {@code /proc/sys/kernel/random/boot_id}
 */
public record ProcessIdentity(long pid, long startTicks, String machineBootId) {

  /** The identity of this Java process. */
  public static ProcessIdentity self() {
    return of(ProcessHandle.current().pid())
        .orElseThrow(() -> new IllegalStateException("/proc does not show this process"));
  }

  /** The identity of the process that has this pid now; empty if there is none. */
  public static Optional<ProcessIdentity> of(long pid) {
    return ProcFs.stat(pid)
        .map(stat -> new ProcessIdentity(pid, stat.startTicks(), ProcFs.machineBootId()));
  }

  /** True while exactly this process runs; a zombie does not. */
  public boolean isRunning() {
    return ProcFs.stat(pid).filter(this::names).filter(stat -> !stat.isDead()).isPresent();
  }

  /** True if {@code stat} is of this process and not of a later one with the same pid. */
  boolean names(ProcFs.Stat stat) {
    return stat.pid() == pid
        && stat.startTicks() == startTicks
        && machineBootId.equals(ProcFs.machineBootId());
  }
}
