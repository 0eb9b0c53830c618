package dev.blackbox.agent.script;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.TurnGate;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** One process per turn. It keeps no state between turns but what the program itself keeps. */
final class ScriptAgent implements Agent {

  /** Longest answer that is taken whole; of a longer one the middle is left out. */
  private static final int ANSWER_BYTES_MAX = 4 << 20;

  private static final int ERRORS_BYTES_MAX = 2_000;

  private static final Duration GRACE = Duration.ofSeconds(1);

  private final AgentSlot slot;
  private final Path program;
  private final String path;
  private final String backendSession;

  private final TurnGate<ManagedProcess> gate = new TurnGate<>();

  ScriptAgent(AgentSlot slot, Path program, String path) {
    this.slot = slot;
    this.program = program;
    this.path = path;
    this.backendSession = "script-" + slot.instanceId() + "-" + slot.sessionId();
  }

  @Override
  public boolean healthy() {
    return Files.isExecutable(program);
  }

  @Override
  public AgentResult run(AgentTask task) {
    TurnGate.Turn<ManagedProcess> turn = gate.begin();
    try {
      task.backendSession().accept(backendSession);
      Path input = Files.createTempFile(slot.runtimeDirectory().resolve("tmp"), "prompt-", ".txt");
      try {
        Files.writeString(input, task.prompt());
        return runProcess(task, turn, input);
      } finally {
        Files.deleteIfExists(input);
      }
    } catch (IOException failed) {
      return new AgentResult.Broken(Kind.PROCESS, String.valueOf(failed.getMessage()), work("[]"));
    } finally {
      gate.finish(turn);
    }
  }

  private AgentResult runProcess(AgentTask task, TurnGate.Turn<ManagedProcess> turn, Path input)
      throws IOException {
    if (gate.isStopped(turn)) {
      return new AgentResult.Stopped(work("[]"));
    }
    ManagedProcess process = slot.processes().start(spec(task, input));
    if (!gate.attach(turn, process)) {
      process.end(GRACE);
    }
    boolean interrupted = false;
    int code;
    try {
      code = process.onExit().get();
    } catch (InterruptedException interrupt) {
      interrupted = true;
      process.end(Duration.ZERO);
      code = process.onExit().join();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("exits complete normally", impossible);
    }
    boolean swept = process.sweep();
    boolean stopped = gate.over(turn);
    if (interrupted) {
      Thread.currentThread().interrupt();
      return new AgentResult.Broken(Kind.UNEXPECTED, "the turn was interrupted", work("[]"));
    }
    return stopped ? new AgentResult.Stopped(answer(process)) : result(process, code, swept);
  }

  private AgentResult result(ManagedProcess process, int code, boolean swept) {
    Work work = answer(process);
    if (code != 0) {
      String message = "script exited with code " + code + "; stderr tail: ";
      return new AgentResult.Broken(Kind.TRANSPORT, message + errors(process), work);
    }
    if (!swept) {
      return new AgentResult.Broken(
          Kind.UNEXPECTED, "script left a process behind that cannot be ended", work);
    }
    if (process.stdout().text().isBlank()) {
      return new AgentResult.Broken(
          Kind.PROTOCOL, "script printed no answer; stderr tail: " + errors(process), work);
    }
    return new AgentResult.Answered(work);
  }

  private ProcessSpec spec(AgentTask task, Path input) {
    Path root = slot.runtimeDirectory();
    Map<String, String> environment = new HashMap<>();
    environment.put("PATH", path);
    environment.put("HOME", root.resolve("home").toString());
    environment.put("TMPDIR", root.resolve("tmp").toString());
    environment.put("OPENAI_BASE_URL", slot.modelBase().toString());
    environment.put("OPENAI_API_KEY", task.modelKey().orElseGet(slot::modelKey).reveal());
    environment.put("BBS_TURN_ID", task.turnId().value());
    environment.put("BBS_SESSION_ID", slot.sessionId().value());
    environment.put("BBS_AGENT_SESSION", backendSession);
    if (slot.systemPrompt().isPresent()) {
      environment.put(
          "BBS_SYSTEM_PROMPT_FILE", root.resolve(ScriptBackend.SYSTEM_PROMPT_FILE).toString());
    }
    return new ProcessSpec(
        "agent",
        List.of(program.toString()),
        slot.workspace(),
        environment,
        Optional.of(input),
        new ProcessSpec.Output.Captured(ANSWER_BYTES_MAX),
        new ProcessSpec.Output.Captured(ERRORS_BYTES_MAX));
  }

  private static String errors(ManagedProcess process) {
    return process.stderr().text().strip();
  }

  private Work answer(ManagedProcess process) {
    String text = process.stdout().text().stripTrailing();
    return work(text.isBlank() ? "[]" : Json.write(List.of(Message.assistant(text, null, null))));
  }

  private Work work(String outputsJson) {
    return new Work(outputsJson, "[]", Usage.NONE, backendSession);
  }

  @Override
  public StopReport stop(Duration within) {
    Duration grace = GRACE.compareTo(within) < 0 ? GRACE : within;
    return gate.stop(
        within,
        (process, _) -> process.end(grace) ? "" : "a process of the script could not be ended");
  }

  @Override
  public void close() {
    gate.close();
    stop(Duration.ofSeconds(10));
  }
}
