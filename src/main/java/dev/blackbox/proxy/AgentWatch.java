package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Notices agents that went away, in every phase of a call. The web server finds out only when it
 * writes, and a call may wait for minutes without a write; so one thread looks into the kernel's
 * table of connections while there are visits, and sleeps otherwise. An agent that closed only its
 * sending side counts as gone: none of the agents' HTTP clients does that and goes on reading.
 */
final class AgentWatch implements Resource {

  private static final System.Logger LOG = System.getLogger(AgentWatch.class.getName());

  /** A look costs some milliseconds of a CPU; agents are to be noticed within a second. */
  private static final Duration EVERY = Duration.ofMillis(350);

  /** A connection may be missed by a look that runs while the kernel changes its table. */
  private static final Duration SECOND_LOOK_AFTER = Duration.ofMillis(50);

  private final ReentrantLock lock = new ReentrantLock();

  /** There is a visit; only a thread that has none to watch waits for it. */
  private final Condition arrived = lock.newCondition();

  private final Condition closing = lock.newCondition();
  private final TcpTable table;
  private final long stuckNanos;
  private final Thread thread;

  @GuardedBy("lock")
  private final Set<Visit> visits = new HashSet<>();

  @GuardedBy("lock")
  private boolean closed;

  private boolean blind;

  /**
   * @param stuckAfter a read from or write to an agent that takes longer ends its visit
   */
  AgentWatch(int localPort, Duration stuckAfter) {
    this.table = new TcpTable(localPort, Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
    this.stuckNanos = stuckAfter.toNanos();
    this.thread = Thread.ofPlatform().name("proxy-agent-watch").daemon(true).start(this::run);
  }

  void add(Visit visit) {
    lock.lock();
    try {
      visits.add(visit);
      if (visits.size() == 1) {
        arrived.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  void remove(Visit visit) {
    lock.lock();
    try {
      visits.remove(visit);
    } finally {
      lock.unlock();
    }
  }

  /** Ends all visits. */
  void endAll(Visit.Ending reason) {
    snapshot().forEach(visit -> visit.end(reason));
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      arrived.signal();
      closing.signal();
    } finally {
      lock.unlock();
    }
    try {
      thread.join(TimeUnit.SECONDS.toMillis(2));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (pause()) {
      Set<Visit> present = snapshot();
      for (Visit visit : present) {
        if (visit.stuck(stuckNanos)) {
          visit.end(Visit.Ending.AGENT_GONE);
        }
      }
      Set<Visit> gone = missing(present);
      if (!gone.isEmpty()) {
        gone = confirmed(gone);
      }
      gone.forEach(visit -> visit.end(Visit.Ending.AGENT_GONE));
    }
  }

  private Set<Visit> confirmed(Set<Visit> suspects) {
    await(SECOND_LOOK_AFTER);
    suspects.retainAll(snapshot());
    return missing(suspects);
  }

  private Set<Visit> missing(Set<Visit> present) {
    Set<Visit> gone = new HashSet<>();
    if (blind || present.isEmpty()) {
      return gone;
    }
    try {
      Set<Integer> connected = table.connectedPeers();
      for (Visit visit : present) {
        if (!connected.contains(visit.agentPort())) {
          gone.add(visit);
        }
      }
    } catch (IOException noTable) {
      blind = true;
      LOG.log(
          System.Logger.Level.WARNING,
          "no table of connections on this system: an agent that goes away is noticed only when"
              + " something is written to it",
          noTable);
    }
    return gone;
  }

  /** Waits until it is time for a look. False when there will be none. */
  private boolean pause() {
    lock.lock();
    try {
      while (visits.isEmpty() && !closed) {
        arrived.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
    return await(EVERY);
  }

  private boolean await(Duration time) {
    lock.lock();
    try {
      long left = time.toNanos();
      while (left > 0 && !closed) {
        left = closing.awaitNanos(left);
      }
      return !closed;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private Set<Visit> snapshot() {
    lock.lock();
    try {
      return new HashSet<>(visits);
    } finally {
      lock.unlock();
    }
  }
}
