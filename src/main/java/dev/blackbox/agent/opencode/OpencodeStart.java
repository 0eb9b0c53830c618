package dev.blackbox.agent.opencode;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.agent.ServerStart;
import dev.blackbox.agent.ServerStart.PortTakenException;
import dev.blackbox.kernel.Secret;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** One attempt to bring an opencode server up. */
final class OpencodeStart implements ServerStart.Attempt {

  /** Asked while it starts, opencode may never answer; the next look will be answered. */
  private static final Duration PROBE_MAX = Duration.ofSeconds(1);

  private final ProgramFinder.Found program;
  private final Map<String, String> ours;
  private final AgentSlot slot;
  private final OpencodeFiles files;
  private final int port;
  private final Secret password = Secret.random("bbs-opencode-");
  private final OpencodeClient client;

  private OpencodeStart(
      ProgramFinder.Found program,
      Map<String, String> ours,
      AgentSlot slot,
      OpencodeFiles files,
      int port) {
    this.program = program;
    this.ours = ours;
    this.slot = slot;
    this.files = files;
    this.port = port;
    this.client = new OpencodeClient(port, password, slot.workspace());
  }

  /**
   * @param ours the server's own variables
   */
  static Agent start(
      OpencodeOptions options,
      ProgramFinder.Found program,
      Map<String, String> ours,
      AgentSlot slot)
      throws AgentStartException {
    OpencodeFiles files = new OpencodeFiles(options, program.version(), slot);
    try {
      files.prepare();
    } catch (IOException failed) {
      throw new AgentStartException("opencode cannot be started: " + failed.getMessage(), failed);
    }
    return new ServerStart(OpencodeBackend.TYPE, slot, files.stderrLog())
        .start(OptionalInt.empty(), port -> new OpencodeStart(program, ours, slot, files, port));
  }

  @Override
  public ProcessSpec process() {
    return new ProcessSpec(
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
        new ProcessSpec.Output.File(files.stderrLog()));
  }

  @Override
  public void started(long pid) throws IOException {
    files.recordRunning(port, pid);
  }

  @Override
  public Optional<String> look() throws PortTakenException {
    try {
      if (!client.isHealthy(PROBE_MAX)) {
        return Optional.of("it says that it is not healthy");
      }
    } catch (OpencodeCallException notYet) {
      if (notYet.status() == 401) {
        throw new PortTakenException();
      }
      return Optional.of(notYet.text());
    }
    requireOurs();
    return Optional.empty();
  }

  /** Whoever answers must know our password, and so refuse another. */
  private void requireOurs() throws PortTakenException {
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

  @Override
  public Agent ready(ManagedProcess process, long errorsFrom) throws AgentStartException {
    return new OpencodeAgent(slot, files, process, client, resume(), errorsFrom);
  }

  /**
   * Checks that the conversation of an earlier boot is still there.
   *
   * @return its newest message
   */
  private Optional<String> resume() throws AgentStartException {
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
}
