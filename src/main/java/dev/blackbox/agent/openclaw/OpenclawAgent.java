package dev.blackbox.agent.openclaw;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.ProcessEnd;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.agent.TurnGate;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One gateway with one conversation. What our plugin writes down is the truth about a turn; the
 * answer to the prompt says that it has ended, and how.
 */
final class OpenclawAgent implements Agent {

  private static final Logger LOG = System.getLogger(OpenclawAgent.class.getName());

  private static final Duration HEALTH_MAX = Duration.ofSeconds(2);

  /** An idle gateway needs less; one that does not end would wait for its runs for minutes. */
  private static final Duration GRACE = Duration.ofSeconds(4);

  private static final Duration CLOSE_STOP_MAX = Duration.ofSeconds(4);

  private final AgentSlot slot;
  private final OpenclawOptions options;
  private final Path program;
  private final OpenclawFiles files;
  private final ManagedProcess process;
  private final OpenclawClient client;
  private final long errorsFrom;
  private final String session;
  private final TurnGate<OpenclawClient.Call> gate = new TurnGate<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  OpenclawAgent(
      AgentSlot slot,
      OpenclawOptions options,
      Path program,
      OpenclawFiles files,
      ManagedProcess process,
      OpenclawClient client,
      long errorsFrom) {
    this.slot = slot;
    this.options = options;
    this.program = program;
    this.files = files;
    this.process = process;
    this.client = client;
    this.errorsFrom = errorsFrom;
    this.session =
        slot.knownSession()
            .orElse("bbs:" + slot.instanceId().value() + ":" + slot.sessionId().value());
  }

  @Override
  public boolean healthy() {
    if (!process.isAlive()) {
      return false;
    }
    try {
      return client.status("/healthz", HEALTH_MAX) == 200;
    } catch (IOException silent) {
      return gate.isBusy() && process.isAlive();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return process.isAlive();
    }
  }

  @Override
  public AgentResult run(AgentTask task) {
    TurnGate.Turn<OpenclawClient.Call> gated = gate.begin();
    try {
      task.backendSession().accept(session);
      Set<ProcessIdentity> before = process.others();
      CliEvents events = new CliEvents(OpenclawBackend.TYPE, task, slot.clock());
      OpenclawTranscript transcript = new OpenclawTranscript(events, expectedSession());
      int nul = task.prompt().indexOf('\0');
      if (nul >= 0) {
        return new AgentResult.Broken(
            Kind.PROTOCOL,
            "openclaw cannot be given a prompt with a NUL character, at " + nul,
            transcript.work(session));
      }
      files.makeRecord();
      try (OpenclawTurn turn = new OpenclawTurn(files, process, transcript)) {
        return runTurn(task, gated, turn, before);
      }
    } catch (IOException failed) {
      return new AgentResult.Broken(
          Kind.UNEXPECTED,
          "openclaw cannot be given its files: " + failed,
          new Work("[]", "[]", Usage.NONE, session));
    } finally {
      gate.finish(gated);
    }
  }

  private AgentResult runTurn(
      AgentTask task,
      TurnGate.Turn<OpenclawClient.Call> gated,
      OpenclawTurn turn,
      Set<ProcessIdentity> before)
      throws IOException {
    if (gate.isStopped(gated)) {
      return new AgentResult.Stopped(turn.transcript().work(session));
    }
    turn.open(task.turnId().value());
    OpenclawTurn.Ended ended;
    OpenclawClient.Call call = client.prompt(body(task), headers(task));
    try {
      if (!gate.attach(gated, call)) {
        call.end();
      }
      ended = turn.await(call);
    } finally {
      turn.end();
      call.end();
    }
    boolean stopped = gate.over(gated);
    if (stopped || !ended.isAnswered()) {
      gate.report(gated, endOfWork(turn, before));
    } else {
      turn.settle();
    }
    keepSession(turn.transcript());
    if (ended.interrupted()) {
      Thread.currentThread().interrupt();
      return broken(Kind.UNEXPECTED, "was ended because its turn was interrupted", turn);
    }
    return stopped ? new AgentResult.Stopped(turn.transcript().work(session)) : result(ended, turn);
  }

  private AgentResult result(OpenclawTurn.Ended ended, OpenclawTurn turn) throws IOException {
    if (ended.fault().isPresent()) {
      return broken(ended.fault().get().kind(), ended.fault().get().text(), turn);
    }
    if (!ended.isAnswered() && turn.hasExited()) {
      return new AgentResult.Broken(
          Kind.PROCESS,
          ProcessEnd.told(OpenclawBackend.TYPE, process, files.stderrLog(), errorsFrom),
          turn.transcript().work(session));
    }
    Optional<OpenclawTurn.Failure> failure = turn.judge(ended);
    if (failure.isEmpty()) {
      return new AgentResult.Answered(turn.transcript().work(session));
    }
    return broken(failure.get().kind(), failure.get().text(), turn);
  }

  private AgentResult broken(Kind kind, String what, OpenclawTurn turn) {
    String said =
        turn.transcript().error().map(error -> "; the last error in the turn: " + error).orElse("");
    return new AgentResult.Broken(
        kind,
        "openclaw " + what + said + ProcessEnd.errors(files.stderrLog(), turn.errorsFrom()),
        turn.transcript().work(session));
  }

  private Map<String, Object> body(AgentTask task) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("model", "openclaw/" + options.agentId());
    body.put("user", session);
    body.put("stream", false);
    body.put("messages", List.of(Map.of("role", "user", "content", task.prompt())));
    OpenclawOptions.Request wanted = options.request();
    wanted.maxTokens().ifPresent(tokens -> body.put("max_tokens", tokens));
    wanted.temperature().ifPresent(value -> body.put("temperature", value));
    wanted.topP().ifPresent(value -> body.put("top_p", value));
    return body;
  }

  /** Source: reference server, section 4.4. */
  private Map<String, String> headers(AgentTask task) {
    return Map.of(
        "x-openclaw-model",
        options.model(),
        "x-openclaw-session-key",
        session,
        "x-bbs-turn-id",
        task.turnId().value());
  }

  private Optional<String> expectedSession() {
    try {
      return Files.exists(files.session())
          ? Optional.of(Files.readString(files.session()))
          : Optional.empty();
    } catch (IOException unreadable) {
      LOG.log(Level.WARNING, "the id of openclaw''s conversation cannot be read", unreadable);
      return Optional.empty();
    }
  }

  private void keepSession(OpenclawTranscript transcript) throws IOException {
    if (transcript.session().isPresent() && !Files.exists(files.session())) {
      RuntimeFiles.write(files.session(), transcript.session().get());
    }
  }

  /**
   * Makes sure that nothing of the turn goes on, in the gateway or in a process that it started.
   */
  private StopReport endOfWork(OpenclawTurn turn, Set<ProcessIdentity> before) {
    if (!process.isAlive()) {
      return process.sweep()
          ? StopReport.STOPPED
          : StopReport.unproved("a process of openclaw cannot be ended");
    }
    boolean swept = process.sweep(spared(before));
    boolean quiet = turn.awaitQuiet();
    swept &= process.sweep(spared(before));
    if (!quiet && process.isAlive()) {
      return StopReport.unproved("openclaw does not say that its run has ended");
    }
    return swept
        ? StopReport.STOPPED
        : StopReport.unproved("a process that the turn started cannot be ended");
  }

  /** What earlier turns left running, and the gateway's own helpers. */
  private Set<ProcessIdentity> spared(Set<ProcessIdentity> before) {
    Set<ProcessIdentity> spared = new HashSet<>(before);
    process.others().stream().filter(this::isHelper).forEach(spared::add);
    return spared;
  }

  private boolean isHelper(ProcessIdentity other) {
    return ProcessHandle.of(other.pid())
        .flatMap(handle -> handle.info().arguments())
        .filter(arguments -> arguments.length > 0)
        .map(arguments -> arguments[0].startsWith(packageDirectory()))
        .orElse(false);
  }

  private String packageDirectory() {
    try {
      return program.toRealPath().resolveSibling("dist").toString() + "/";
    } catch (IOException gone) {
      return program.resolveSibling("dist").toString() + "/";
    }
  }

  @Override
  public StopReport stop(Duration within) {
    return gate.stop(
        within,
        (call, _) -> {
          try {
            Files.deleteIfExists(
                files.turn()); // before the end of the call: no run begins after it
          } catch (IOException failed) {
            LOG.log(Level.WARNING, "the mark of openclaw''s turn cannot be removed", failed);
          }
          call.end();
          return "";
        });
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    gate.close();
    if (process.isAlive()) {
      stop(CLOSE_STOP_MAX);
    }
    if (!process.end(GRACE)) {
      LOG.log(Level.WARNING, "openclaw or a process that it started cannot be ended");
    }
  }
}
