package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.upstream.UpstreamCall;
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
  private @Nullable UpstreamCall engine;

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

  /** Ends the visit; the first reason stands. */
  void end(Ending reason) {
    UpstreamCall open;
    lock.lock();
    try {
      if (ending == null) {
        ending = reason;
      }
      open = engine;
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

  /** From now on, ending the visit closes this call. */
  UpstreamCall engage(UpstreamCall call) {
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
   * Writes to the agent.
   *
   * @throws VisitEndedException if the agent is gone
   */
  void tell(AgentWrite io) throws VisitEndedException {
    ask(
        () -> {
          io.run();
          return true;
        });
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
      if (ending != null && Thread.interrupted()) {
        // The interrupt was ours, and has done its work; the thread goes on to clean up.
        return;
      }
    } finally {
      lock.unlock();
    }
  }
}
