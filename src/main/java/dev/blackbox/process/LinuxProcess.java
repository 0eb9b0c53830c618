package dev.blackbox.process;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/** One process that we started, found again by session, descent and marker. */
final class LinuxProcess implements ManagedProcess {

  private static final Logger LOG = System.getLogger(LinuxProcess.class.getName());

  /** Grace of {@link #close}. Source: the reference server's first wait after SIGTERM. */
  private static final Duration GRACE_DEFAULT = Duration.ofSeconds(3);

  /** How long SIGKILL may take to show: only a process stuck in the kernel needs longer. */
  private static final Duration KILL_MAX = Duration.ofSeconds(5);

  /** How long {@link #end} waits for the end to be recorded before it returns. */
  private static final Duration RECORD_MAX = Duration.ofSeconds(2);

  /** Exit codes above this one are deaths by signal, and this plus the greatest signal is last. */
  private static final int SIGNAL_BASE = 128;

  private static final int SIGNAL_MAX = 64;

  private final Process process;
  private final ProcessIdentity identity;
  private final Optional<Capture> stdout;
  private final Optional<Capture> stderr;
  private final CompletableFuture<Integer> exit = new CompletableFuture<>();
  private final CompletableFuture<Void> endRecorded = new CompletableFuture<>();
  private volatile boolean watched;

  /** Guards {@link #tree}: one ends or looks at the tree at a time. Held for bounded waits only. */
  private final ReentrantLock treeLock = new ReentrantLock();

  @GuardedBy("treeLock")
  private final ProcessTree tree;

  /** Once the whole tree was seen to be gone, nothing can join it, and its pids may be others'. */
  @GuardedBy("treeLock")
  private boolean gone;

  LinuxProcess(
      Process process,
      String id,
      ProcFs.Moment before,
      Optional<Capture> stdout,
      Optional<Capture> stderr,
      Optional<Drain> drain) {
    this.process = process;
    this.stdout = stdout;
    this.stderr = stderr;
    identity =
        ProcessIdentity.of(process.pid())
            .orElseGet(() -> new ProcessIdentity(process.pid(), 0, ProcFs.machineBootId()));
    tree =
        new ProcessTree(
            stat -> isInSession(stat) || ProcFs.hasVariable(stat.pid(), Processes.ID_VARIABLE, id),
            () -> ProcFs.runningSince(before));
    Thread.ofVirtual().name("exit-" + process.pid()).start(() -> awaitExit(drain));
  }

  /**
   * A session or group keeps its number from being used as a pid, so a new leader means new ones.
   */
  private boolean isInSession(ProcFs.Stat stat) {
    return (stat.session() == identity.pid() || stat.group() == identity.pid())
        && ProcFs.stat(identity.pid()).map(identity::names).orElse(true);
  }

  private void awaitExit(Optional<Drain> drain) {
    int code = process.onExit().join().exitValue();
    drain.ifPresent(Drain::finish);
    exit.complete(
        code > SIGNAL_BASE && code <= SIGNAL_BASE + SIGNAL_MAX ? SIGNAL_BASE - code : code);
  }

  /** The start is recorded, so the end may be. */
  void watch(ProcessLog log) {
    watched = true;
    exit.thenAcceptAsync(
            code -> {
              try {
                log.ended(identity, code);
              } catch (RuntimeException unrecorded) {
                // The next boot finds the row open and the process gone, which is harmless.
                LOG.log(
                    Level.WARNING,
                    "the end of process " + identity.pid() + " was not recorded",
                    unrecorded);
              } finally {
                endRecorded.complete(null);
              }
            },
            task -> Thread.ofVirtual().name("ended-" + identity.pid()).start(task))
        .exceptionally(
            failure -> {
              LOG.log(Level.ERROR, "the end of a process could not be handled", failure);
              return null;
            });
  }

  @Override
  public ProcessIdentity identity() {
    return identity;
  }

  @Override
  public OptionalInt exitCode() {
    Integer code = exit.getNow(null);
    return code == null ? OptionalInt.empty() : OptionalInt.of(code);
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public CompletableFuture<Integer> onExit() {
    return exit.copy();
  }

  @Override
  public Captured stdout() {
    return stdout.map(Capture::snapshot).orElse(Captured.NOTHING);
  }

  @Override
  public Captured stderr() {
    return stderr.map(Capture::snapshot).orElse(Captured.NOTHING);
  }

  @Override
  public Set<ProcessIdentity> others() {
    treeLock.lock();
    try {
      return othersLocked();
    } finally {
      treeLock.unlock();
    }
  }

  @Override
  public boolean sweep(Set<ProcessIdentity> spared) {
    treeLock.lock();
    try {
      if (gone) {
        return true;
      }
      boolean leaderGone = !process.isAlive();
      Set<ProcessIdentity> kept = new LinkedHashSet<>(spared);
      kept.add(identity);
      boolean swept = tree.kill(kept, KILL_MAX);
      gone = swept && leaderGone && spared.isEmpty();
      return swept;
    } finally {
      treeLock.unlock();
    }
  }

  @Override
  public void interrupt() {
    ProcessTree.signal(identity, Native.SIGINT);
  }

  @Override
  public boolean end(Duration grace) {
    treeLock.lock();
    try {
      if (!gone) {
        if (grace.isPositive()) {
          terminate(grace);
        }
        signalGroup(Native.SIGKILL);
        gone = tree.kill(Set.of(), KILL_MAX) && awaitQuietly(exit, KILL_MAX);
      }
      if (gone && watched && !awaitQuietly(endRecorded, RECORD_MAX)) {
        LOG.log(Level.WARNING, "the end of process {0} is not recorded yet", identity.pid());
      }
      return gone;
    } finally {
      treeLock.unlock();
    }
  }

  @Override
  public void close() {
    if (!end(GRACE_DEFAULT)) {
      LOG.log(Level.WARNING, "process {0} or a child of it could not be ended", identity.pid());
    }
  }

  /** Asks the group to end, and waits until it has, or the grace is over. */
  private void terminate(Duration grace) {
    long deadline = System.nanoTime() + grace.toNanos();
    if (process.isAlive()) {
      signalGroup(Native.SIGTERM);
    } else {
      group().forEach(member -> ProcessTree.signal(member, Native.SIGTERM));
    }
    awaitQuietly(exit, grace);
    Pause pause = new Pause(Duration.ofMillis(2), Duration.ofMillis(50));
    while (System.nanoTime() < deadline && !group().isEmpty()) {
      pause.take();
    }
  }

  /** The leader's group, as long as the leader lives: only then is the group surely ours. */
  private void signalGroup(int signal) {
    if (identity.isRunning()) {
      // Right after the start, setsid has not yet made the group: then the leader is alone.
      if (!Native.kill(-identity.pid(), signal)) {
        ProcessTree.signal(identity, signal);
      }
    }
  }

  private Set<ProcessIdentity> group() {
    Set<ProcessIdentity> group = new LinkedHashSet<>();
    for (ProcFs.Stat stat : ProcFs.running()) {
      if (stat.group() == identity.pid() && isInSession(stat)) {
        group.add(ProcessTree.identity(stat));
      }
    }
    return group;
  }

  @GuardedBy("treeLock")
  private Set<ProcessIdentity> othersLocked() {
    if (gone) {
      return Set.of();
    }
    Set<ProcessIdentity> others = new LinkedHashSet<>(tree.running());
    others.remove(identity);
    return others;
  }

  /** False if it did not complete in time. An interrupt does not end the wait, and is kept. */
  private static boolean awaitQuietly(CompletableFuture<?> future, Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          future.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException again) {
          interrupted = true;
        } catch (TimeoutException over) {
          return false;
        } catch (ExecutionException impossible) {
          throw new IllegalStateException("exits complete normally", impossible);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
