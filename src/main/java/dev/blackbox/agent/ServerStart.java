package dev.blackbox.agent;

import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Brings up an agent that is a server on a port of this machine, and makes sure that it is ours and
 * ready. For one start.
 */
public final class ServerStart {

  /** Longest pause between two looks, whatever the setting says: a start should not wait for us. */
  private static final Duration PROBE_INTERVAL_MAX = Duration.ofMillis(250);

  private static final Duration PROBE_INTERVAL_MIN = Duration.ofMillis(10);

  /** A free port may be taken between our look and the agent's start. */
  private static final int PORTS_MAX = 3;

  private static final int LOOPBACK_CONNECT_MILLIS = 500;

  private final String type;
  private final AgentSlot slot;
  private final Path errorsLog;
  private final long deadline;

  /** Somebody else listens on the port. */
  public static final class PortTakenException extends Exception {}

  /** One attempt, on one port. */
  public interface Attempt {

    ProcessSpec process();

    /** The process runs. */
    void started(long pid) throws IOException;

    /**
     * One look, of a second at most.
     *
     * @return empty if it is ready, and knows the secret that only ours can know; else why not
     */
    Optional<String> look() throws PortTakenException;

    /**
     * It is ready. What an earlier boot knew is gone on with.
     *
     * @param errorsFrom where its errors begin in the log
     */
    Agent ready(ManagedProcess process, long errorsFrom) throws AgentStartException;
  }

  /** Makes an attempt. */
  @FunctionalInterface
  public interface Attempts {
    Attempt on(int port);
  }

  /**
   * @param type the backend's
   * @param errorsLog where the process writes its errors
   */
  public ServerStart(String type, AgentSlot slot, Path errorsLog) {
    this.type = type;
    this.slot = slot;
    this.errorsLog = errorsLog;
    this.deadline = System.nanoTime() + slot.startTimeout().toNanos();
  }

  /**
   * Starts the agent.
   *
   * @param port that the caller wants; empty: any free one
   */
  public Agent start(OptionalInt port, Attempts attempts) throws AgentStartException {
    int attemptsMax = port.isPresent() ? 1 : PORTS_MAX;
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          int chosen = port.isPresent() ? port.getAsInt() : freePort();
          return startOn(chosen, attempts.on(chosen));
        } catch (PortTakenException taken) {
          if (attempt == attemptsMax) {
            throw new AgentStartException(
                port.isPresent()
                    ? type + " cannot listen on port " + port.getAsInt() + ": somebody else does"
                    : type + " found no free port in " + PORTS_MAX + " attempts",
                taken);
          }
        }
      }
    } catch (IOException failed) {
      throw new AgentStartException(type + " cannot be started: " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AgentStartException("interrupted while " + type + " was starting", interrupted);
    }
  }

  private Agent startOn(int port, Attempt attempt)
      throws IOException, InterruptedException, AgentStartException, PortTakenException {
    if (somebodyListens(port)) {
      throw new PortTakenException();
    }
    long errorsFrom = RuntimeFiles.size(errorsLog);
    ManagedProcess process = slot.processes().start(attempt.process());
    boolean started = false;
    try {
      attempt.started(process.identity().pid());
      awaitReady(process, attempt, port, errorsFrom);
      Agent agent = attempt.ready(process, errorsFrom);
      started = true;
      return agent;
    } finally {
      if (!started) {
        process.close();
      }
    }
  }

  private void awaitReady(ManagedProcess process, Attempt attempt, int port, long errorsFrom)
      throws InterruptedException, AgentStartException, PortTakenException {
    String lastProblem = "it was not asked yet";
    while (System.nanoTime() < deadline) {
      if (ProcessEnd.await(process, pause())) {
        if (somebodyListens(port)) {
          throw new PortTakenException();
        }
        throw new AgentStartException(
            ProcessEnd.told(type, process, errorsLog, errorsFrom) + ", before it was ready", null);
      }
      Optional<String> problem = attempt.look();
      if (problem.isEmpty()) {
        return;
      }
      lastProblem = problem.get();
    }
    throw new AgentStartException(
        type
            + " was not ready within "
            + slot.startTimeout().toMillis()
            + " ms: "
            + lastProblem
            + ProcessEnd.errors(errorsLog, errorsFrom),
        null);
  }

  private Duration pause() {
    Duration wanted = slot.probeInterval();
    Duration capped = wanted.compareTo(PROBE_INTERVAL_MAX) > 0 ? PROBE_INTERVAL_MAX : wanted;
    return capped.compareTo(PROBE_INTERVAL_MIN) < 0 ? PROBE_INTERVAL_MIN : capped;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean somebodyListens(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), LOOPBACK_CONNECT_MILLIS);
      return true;
    } catch (IOException nobody) {
      return false;
    }
  }
}
