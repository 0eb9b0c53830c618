package dev.blackbox.agent.opencode;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.Secret;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Brings one opencode server up and makes sure that it is ours and ready. For one start. */
final class OpencodeStart {

  /** Longest pause between two looks, whatever the setting says: a start should not wait for us. */
  private static final Duration PROBE_INTERVAL_MAX = Duration.ofMillis(250);

  /** Asked while it starts, opencode may never answer; the next look will be answered. */
  private static final Duration PROBE_MAX = Duration.ofSeconds(1);

  private static final Duration PROBE_INTERVAL_MIN = Duration.ofMillis(10);

  /** A free port may be taken between our look and opencode's start. */
  private static final int PORTS_MAX = 3;

  private static final int LOOPBACK_CONNECT_MILLIS = 500;

  private static final int ERRORS_BYTES_MAX = 2_000;

  private final OpencodeProgram.Found program;
  private final Map<String, String> ours;
  private final AgentSlot slot;
  private final OpencodeFiles files;
  private final long deadline;

  private static final class PortTakenException extends Exception {}

  /**
   * @param ours the server's own variables
   */
  OpencodeStart(
      OpencodeOptions options,
      OpencodeProgram.Found program,
      Map<String, String> ours,
      AgentSlot slot) {
    this.program = program;
    this.ours = ours;
    this.slot = slot;
    this.files = new OpencodeFiles(options, program.version(), slot);
    this.deadline = System.nanoTime() + slot.startTimeout().toNanos();
  }

  Agent start() throws AgentStartException {
    try {
      files.prepare();
      for (int attempt = 1; ; attempt++) {
        try {
          return startOn(freePort());
        } catch (PortTakenException taken) {
          if (attempt == PORTS_MAX) {
            throw new AgentStartException(
                "opencode found no free port in " + PORTS_MAX + " attempts", taken);
          }
        }
      }
    } catch (IOException failed) {
      throw new AgentStartException("opencode cannot be started: " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AgentStartException("interrupted while opencode was starting", interrupted);
    }
  }

  private Agent startOn(int port)
      throws IOException, InterruptedException, AgentStartException, PortTakenException {
    Secret password = Secret.random("");
    long errorsFrom = RuntimeFiles.size(files.stderrLog());
    ManagedProcess process =
        slot.processes()
            .start(
                new ProcessSpec(
                    "agent",
                    List.of(
                        program.path().toString(),
                        "serve",
                        "--port",
                        Integer.toString(port),
                        "--hostname",
                        "127.0.0.1"),
                    slot.workspace(),
                    files.environment(ours, password),
                    Optional.empty(),
                    new ProcessSpec.Output.File(files.stdoutLog()),
                    new ProcessSpec.Output.File(files.stderrLog())));
    boolean started = false;
    try {
      files.recordRunning(port, process.identity().pid());
      OpencodeClient client = new OpencodeClient(port, password, slot.workspace());
      awaitReady(process, client, port, errorsFrom);
      Optional<String> lastMessage = resume(client);
      Agent agent = new OpencodeAgent(slot, files, process, client, lastMessage, errorsFrom);
      started = true;
      return agent;
    } finally {
      if (!started) {
        process.close();
      }
    }
  }

  private void awaitReady(ManagedProcess process, OpencodeClient client, int port, long errorsFrom)
      throws InterruptedException, AgentStartException, PortTakenException {
    String lastProblem = "it was not asked yet";
    while (System.nanoTime() < deadline) {
      if (awaitExit(process, pause())) {
        if (somebodyListens(port)) {
          throw new PortTakenException();
        }
        throw new AgentStartException(
            exited(process, files, errorsFrom) + ", before it was ready", null);
      }
      try {
        if (client.isHealthy(PROBE_MAX)) {
          requireOurs(port);
          return;
        }
        lastProblem = "it says that it is not healthy";
      } catch (OpencodeCallException notYet) {
        if (notYet.status() == 401) {
          throw new PortTakenException();
        }
        lastProblem = notYet.text();
      }
    }
    throw new AgentStartException(
        "opencode was not ready within "
            + slot.startTimeout().toMillis()
            + " ms: "
            + lastProblem
            + errors(files, errorsFrom),
        null);
  }

  /** Whoever answers must know our password, and so refuse another. */
  private void requireOurs(int port) throws PortTakenException {
    OpencodeClient stranger = new OpencodeClient(port, Secret.random(""), slot.workspace());
    try {
      stranger.isHealthy(PROBE_MAX);
    } catch (OpencodeCallException refused) {
      if (refused.status() == 401) {
        return;
      }
    }
    throw new PortTakenException();
  }

  /**
   * Checks that the conversation of an earlier boot is still there.
   *
   * @return its newest message
   */
  private Optional<String> resume(OpencodeClient client) throws AgentStartException {
    if (slot.knownSession().isEmpty()) {
      return Optional.empty();
    }
    String session = slot.knownSession().get();
    try {
      if (!client.sessionExists(session)) {
        throw new AgentStartException(
            "opencode does not know its session "
                + session
                + " of session "
                + slot.sessionId()
                + " any more; its data in "
                + slot.runtimeDirectory().resolve("home")
                + " is missing or another's",
            null);
      }
      return client.lastMessageId(session);
    } catch (OpencodeCallException failed) {
      throw new AgentStartException(
          "opencode cannot go on with its session "
              + session
              + " of session "
              + slot.sessionId()
              + ": "
              + failed.text(),
          failed);
    }
  }

  private Duration pause() {
    Duration wanted = slot.probeInterval();
    Duration capped = wanted.compareTo(PROBE_INTERVAL_MAX) > 0 ? PROBE_INTERVAL_MAX : wanted;
    return capped.compareTo(PROBE_INTERVAL_MIN) < 0 ? PROBE_INTERVAL_MIN : capped;
  }

  /** True if the process ended within the time. */
  static boolean awaitExit(ManagedProcess process, Duration within) throws InterruptedException {
    try {
      process.onExit().get(within.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException alive) {
      return false;
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("exits complete normally", impossible);
    }
  }

  static String exited(ManagedProcess process, OpencodeFiles files, long errorsFrom) {
    return "opencode exited with code " + process.exitCode().orElse(0) + errors(files, errorsFrom);
  }

  private static String errors(OpencodeFiles files, long from) {
    String tail = RuntimeFiles.tail(files.stderrLog(), from, ERRORS_BYTES_MAX);
    return tail.isEmpty() ? "" : "; stderr tail: " + tail;
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
