package dev.blackbox.agent.openclaw;

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
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One attempt to bring a gateway up. */
final class OpenclawStart implements ServerStart.Attempt {

  private static final Duration PROBE_MAX = Duration.ofSeconds(1);

  /** Lists agents, and needs the token. */
  private static final String GUARDED = "/v1/models";

  private final OpenclawOptions options;
  private final ProgramFinder.Found program;
  private final Map<String, String> ours;
  private final AgentSlot slot;
  private final OpenclawFiles files;
  private final int port;
  private final Secret token;
  private final OpenclawClient client;

  private OpenclawStart(
      OpenclawOptions options,
      ProgramFinder.Found program,
      Map<String, String> ours,
      AgentSlot slot,
      OpenclawFiles files,
      int port) {
    this.options = options;
    this.program = program;
    this.ours = ours;
    this.slot = slot;
    this.files = files;
    this.port = port;
    // the prefix is the reference server's
    this.token = options.token().map(Secret::of).orElseGet(() -> Secret.random("bbs-openclaw-"));
    this.client = new OpenclawClient(port, token);
  }

  /**
   * @param ours the server's own variables
   */
  static Agent start(
      OpenclawOptions options,
      ProgramFinder.Found program,
      Map<String, String> ours,
      AgentSlot slot)
      throws AgentStartException {
    OpenclawFiles files = new OpenclawFiles(options, slot);
    try {
      files.prepare();
    } catch (IOException failed) {
      throw new AgentStartException("openclaw cannot be started: " + failed.getMessage(), failed);
    }
    if (slot.knownSession().isPresent()
        && Files.exists(files.session())
        && !Files.isDirectory(files.store())) {
      throw new AgentStartException(
          "openclaw does not know its session "
              + slot.knownSession().get()
              + " of session "
              + slot.sessionId()
              + " any more; its data in "
              + files.store()
              + " is missing",
          null);
    }
    return new ServerStart(OpenclawBackend.TYPE, slot, files.stderrLog())
        .start(
            options.port(), port -> new OpenclawStart(options, program, ours, slot, files, port));
  }

  @Override
  public ProcessSpec process() {
    List<String> command =
        new ArrayList<>(
            List.of(
                program.path().toString(),
                "gateway",
                "run",
                "--port",
                Integer.toString(port),
                "--bind",
                "loopback",
                "--auth",
                "token"));
    command.addAll(options.extraArguments());
    return new ProcessSpec(
        "agent",
        command,
        slot.workspace(),
        files.environment(ours, program.searchPath(), token),
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
      int ready = client.status("/readyz", PROBE_MAX);
      if (ready != 200) {
        return Optional.of("/readyz says " + ready);
      }
      int listed = client.status(GUARDED, PROBE_MAX);
      if (listed == 401) {
        throw new PortTakenException();
      }
      if (listed != 200) {
        return Optional.of(GUARDED + " says " + listed);
      }
      // Whoever answers must know our token, and so refuse another.
      int stranger = new OpenclawClient(port, Secret.random("")).status(GUARDED, PROBE_MAX);
      if (stranger != 401) {
        throw new PortTakenException();
      }
      return Optional.empty();
    } catch (IOException notYet) {
      return Optional.of("no answer: " + notYet);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt(); // the wait for its end, which follows, notices
      return Optional.of("interrupted");
    }
  }

  @Override
  public Agent ready(ManagedProcess process, long errorsFrom) {
    return new OpenclawAgent(slot, options, program.path(), files, process, client, errorsFrom);
  }
}
