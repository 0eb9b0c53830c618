package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Resource;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.socket.SocketWriterException;
import io.helidon.webserver.CloseConnectionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One request of an agent at the door, from its head to the last byte of its answer. Its own thread
 * serves it; any other may end it, which frees that thread wherever it waits: for the engine, for
 * the agent's socket, or at the door.
 */
final class Visit {

  /** Why a visit was ended by somebody else than its own thread. */
  enum Ending {
    AGENT_GONE,
    TURN_CLOSED
  }

  /** A read of the agent's socket. */
  @FunctionalInterface
  interface AgentRead<T> {
    T run() throws IOException;
  }

  /** A write to the agent's socket. */
  @FunctionalInterface
  interface AgentWrite {
    void run() throws IOException;
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final int agentPort;
  private final Runnable wakeAtTheDoor;

  @GuardedBy("lock")
  private @Nullable Ending ending;

  @GuardedBy("lock")
  private @Nullable Resource engine;

  /** Retries of the agent that are told what this visit is told. */
  @GuardedBy("lock")
  private int followers;

  /** Whether its own agent is gone while there are followers. */
  @GuardedBy("lock")
  private boolean leftBehind;

  /** The thread that is in a read or write of the agent's socket now. */
  @GuardedBy("lock")
  private @Nullable Thread talking;

  @GuardedBy("lock")
  private long talkingSince;

  /**
   * @param agentPort port of the agent's end of the connection
   * @param wakeAtTheDoor makes a visit that waits at the door look at {@link #ending}
   */
  Visit(int agentPort, Runnable wakeAtTheDoor) {
    this.agentPort = agentPort;
    this.wakeAtTheDoor = wakeAtTheDoor;
  }

  int agentPort() {
    return agentPort;
  }

  Optional<Ending> ending() {
    lock.lock();
    try {
      return Optional.ofNullable(ending);
    } finally {
      lock.unlock();
    }
  }

  /**
   * @throws VisitEndedException if it was ended
   */
  void throwIfEnded() throws VisitEndedException {
    Optional<Ending> ended = ending();
    if (ended.isPresent()) {
      throw new VisitEndedException(ended.get());
    }
  }

  /**
   * Ends the visit; the first reason stands. That its agent is gone does not end it while others
   * follow it.
   */
  void end(Ending reason) {
    Resource open;
    lock.lock();
    try {
      if (ending == null && reason == Ending.AGENT_GONE && followers > 0) {
        leftBehind = true;
      } else if (ending == null) {
        ending = reason;
      }
      open = ending == null ? null : engine;
      if (talking != null) {
        // Frees a blocked read or write, at the price of the socket.
        talking.interrupt();
      }
    } finally {
      lock.unlock();
    }
    if (open != null) {
      open.close();
    }
    wakeAtTheDoor.run();
  }

  /** Lets a retry of the agent be told what this visit is told. False if it was ended. */
  boolean follow() {
    lock.lock();
    try {
      if (ending != null) {
        return false;
      }
      followers++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** A follower is told all, or gone. */
  void unfollow() {
    boolean alone;
    lock.lock();
    try {
      followers--;
      alone = leftBehind && followers == 0;
    } finally {
      lock.unlock();
    }
    if (alone) {
      end(Ending.AGENT_GONE);
    }
  }

  /** Whether it goes on for its followers only; nothing is written to its own agent then. */
  boolean isLeftBehind() {
    lock.lock();
    try {
      return leftBehind;
    } finally {
      lock.unlock();
    }
  }

  /** From now on, ending the visit closes this call. */
  <T extends Resource> T engage(T call) {
    boolean tooLate;
    lock.lock();
    try {
      engine = call;
      tooLate = ending != null;
    } finally {
      lock.unlock();
    }
    if (tooLate) {
      call.close();
    }
    return call;
  }

  /**
   * Writes to the agent, unless it is gone and others follow.
   *
   * @throws VisitEndedException if the agent is gone
   */
  void tell(AgentWrite io) throws VisitEndedException {
    if (isLeftBehind()) {
      throwIfEnded();
      return;
    }
    try {
      ask(
          () -> {
            io.run();
            return true;
          });
    } catch (VisitEndedException gone) {
      if (!isLeftBehind() || ending().isPresent()) {
        throw gone;
      }
    }
  }

  /**
   * Reads from the agent.
   *
   * @throws VisitEndedException if the agent is gone
   */
  <T> T ask(AgentRead<T> io) throws VisitEndedException {
    lock.lock();
    try {
      if (ending == Ending.AGENT_GONE) {
        throw new VisitEndedException(Ending.AGENT_GONE);
      }
      talking = Thread.currentThread();
      talkingSince = System.nanoTime();
    } finally {
      lock.unlock();
    }
    try {
      return io.run();
    } catch (IOException
        | UncheckedIOException
        | CloseConnectionException
        | SocketWriterException
        | DataReader.InsufficientDataAvailableException broken) {
      throw new VisitEndedException(endedByBrokenSocket());
    } finally {
      stopTalking();
    }
  }

  /** True if a read or write of the agent's socket has not come to an end for this long. */
  boolean stuck(long limitNanos) {
    lock.lock();
    try {
      return talking != null && System.nanoTime() - talkingSince > limitNanos;
    } finally {
      lock.unlock();
    }
  }

  private Ending endedByBrokenSocket() {
    lock.lock();
    try {
      if (ending == null && followers > 0) {
        leftBehind = true;
        return Ending.AGENT_GONE;
      }
      Ending reason = ending == null ? Ending.AGENT_GONE : ending;
      ending = reason;
      return reason;
    } finally {
      lock.unlock();
    }
  }

  private void stopTalking() {
    lock.lock();
    try {
      talking = null;
      if ((ending != null || leftBehind) && Thread.interrupted()) {
        // The interrupt was ours, and has done its work; the thread goes on to clean up.
        return;
      }
    } finally {
      lock.unlock();
    }
  }
}
