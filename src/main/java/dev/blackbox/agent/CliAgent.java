package dev.blackbox.agent;

import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An agent that is one process per turn: the prompt is its standard input, JSON lines are its
 * output. The output goes to a log, and is read from there, so that neither a child that keeps it
 * open nor a slow reader blocks anybody. When the process has ended, so has all that it started.
 */
public final class CliAgent implements Agent {

  /** How often the log is looked at; the end of the process is noticed at once. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(50);

  private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

  /** A log beyond this is put aside before a turn. */
  private static final long LOG_BYTES_MAX = 16 << 20;

  private static final int LOGS_KEPT = 2;

  private final AgentSlot slot;
  private final CliDialect dialect;
  private final CliLimits limits;
  private final Path stdout;
  private final Path stderr;

  private final TurnGate<ManagedProcess> gate = new TurnGate<>();

  /** How the watching of a run ended. */
  private record Watched(boolean ended, boolean interrupted, @Nullable CliOutputException fault) {}

  public CliAgent(AgentSlot slot, CliDialect dialect, CliLimits limits) {
    this.slot = slot;
    this.dialect = dialect;
    this.limits = limits;
    Path logs = slot.runtimeDirectory().resolve("logs");
    this.stdout = logs.resolve(dialect.type() + ".stdout.log");
    this.stderr = logs.resolve(dialect.type() + ".stderr.log");
  }

  @Override
  public boolean healthy() {
    return ProgramFinder.isRunnable(dialect.program());
  }

  @Override
  public AgentResult run(AgentTask task) {
    TurnGate.Turn<ManagedProcess> turn = gate.begin();
    try {
      CliTurn talk = dialect.begin(task);
      int nul = task.prompt().indexOf('\0');
      if (nul >= 0) {
        return broken(
            Kind.PROTOCOL, "cannot be given a prompt with a NUL character, at " + nul, talk);
      }
      try {
        return runWithFiles(task, turn, talk);
      } catch (IOException failed) {
        return broken(Kind.UNEXPECTED, "cannot be given its files: " + failed, talk);
      }
    } finally {
      gate.finish(turn);
    }
  }

  private AgentResult runWithFiles(
      AgentTask task, TurnGate.Turn<ManagedProcess> turn, CliTurn first) throws IOException {
    dialect.prepare();
    if (!Files.isDirectory(dialect.directory())) {
      return broken(
          Kind.TRANSPORT,
          "cannot run: its working directory " + dialect.directory() + " does not exist",
          first);
    }
    RuntimeFiles.rotateIfLargerThan(stdout, LOG_BYTES_MAX, LOGS_KEPT);
    RuntimeFiles.rotateIfLargerThan(stderr, LOG_BYTES_MAX, LOGS_KEPT);
    Path prompt = slot.runtimeDirectory().resolve("run/prompt.txt");
    RuntimeFiles.write(prompt, task.prompt());
    try {
      CliTurn talk = first;
      while (true) {
        Optional<CliTurn> again = Optional.empty();
        if (gate.isStopped(turn)) {
          return new AgentResult.Stopped(talk.work());
        }
        long outputFrom = RuntimeFiles.size(stdout);
        long errorsFrom = RuntimeFiles.size(stderr);
        ManagedProcess process;
        try {
          process = slot.processes().start(spec(task, talk, prompt));
        } catch (IOException failed) {
          return broken(
              Kind.PROCESS,
              "cannot be started: "
                  + failed.getMessage()
                  + ". Let "
                  + dialect.programVariable()
                  + " name a program that can be run.",
              talk);
        }
        try (process;
            LineReader lines =
                new LineReader(stdout, outputFrom, limits.lineBytesMax(), limits.turnBytesMax())) {
          if (!gate.attach(turn, process)) {
            end(process, Duration.ZERO);
          }
          Watched watched = watch(process, lines, talk, errorsFrom);
          boolean swept = process.sweep();
          CliExit exit = exit(process, watched, outputFrom, errorsFrom);
          boolean canGoOn = !watched.interrupted() && watched.fault() == null && swept;
          again = canGoOn && !gate.isStopped(turn) ? talk.again(exit) : Optional.empty();
          if (again.isEmpty()) {
            return result(gate.over(turn), watched, swept, exit, talk);
          }
        }
        talk = again.get();
      }
    } finally {
      Files.deleteIfExists(prompt);
    }
  }

  private ProcessSpec spec(AgentTask task, CliTurn talk, Path prompt) {
    List<String> command = new ArrayList<>();
    command.add(dialect.program().toString());
    command.addAll(talk.arguments());
    return new ProcessSpec(
        "agent",
        command,
        dialect.directory(),
        dialect.environment(task.modelKey().orElseGet(slot::modelKey)),
        Optional.of(prompt),
        new ProcessSpec.Output.File(stdout),
        new ProcessSpec.Output.File(stderr));
  }

  /** Reads what the run prints until it has ended, by itself or by us. */
  private Watched watch(ManagedProcess process, LineReader lines, CliTurn talk, long errorsFrom)
      throws IOException {
    RuntimeFiles.write(
        slot.runtimeDirectory().resolve("run/" + dialect.type() + ".pid"),
        Long.toString(process.identity().pid()));
    boolean endedByUs = false;
    try {
      long quietSince = System.nanoTime();
      while (!ProcessEnd.await(process, LOOK_EVERY)) {
        if (lines.read(talk::line)) {
          quietSince = System.nanoTime();
        }
        boolean quiet = System.nanoTime() - quietSince > limits.exitGrace().toNanos();
        if (quiet && talk.isComplete()) {
          talk.note(
              "it did not exit within "
                  + limits.exitGrace().toMillis()
                  + " ms after its final event, and was ended");
          endedByUs = true;
          end(process, limits.interruptGrace());
          break;
        }
        if (RuntimeFiles.size(stderr) - errorsFrom > limits.turnBytesMax()) {
          throw CliOutputException.transport(
              "wrote more than " + limits.turnBytesMax() + " bytes to standard error in one turn");
        }
      }
      lines.read(talk::line);
      lines.finish(talk::line);
      return new Watched(endedByUs, false, null);
    } catch (CliOutputException fault) {
      end(process, Duration.ZERO);
      return new Watched(true, false, fault);
    } catch (InterruptedException interrupted) {
      end(process, Duration.ZERO);
      return new Watched(true, true, null);
    }
  }

  private CliExit exit(ManagedProcess process, Watched watched, long outputFrom, long errorsFrom) {
    return new CliExit(
        process.exitCode().orElse(0),
        watched.ended(),
        ProcessEnd.tail(stderr, errorsFrom),
        ProcessEnd.tail(stdout, outputFrom));
  }

  private AgentResult result(
      boolean stopped, Watched watched, boolean swept, CliExit exit, CliTurn talk) {
    if (watched.interrupted()) {
      Thread.currentThread().interrupt();
      return broken(Kind.UNEXPECTED, "was ended because its turn was interrupted", talk);
    }
    if (stopped) {
      return new AgentResult.Stopped(talk.work());
    }
    if (watched.fault() != null) {
      String tail = exit.errors().isEmpty() ? "" : "; stderr tail: " + exit.errors();
      return broken(watched.fault().kind(), watched.fault().text() + tail, talk);
    }
    if (!swept) {
      return broken(Kind.UNEXPECTED, "left a process behind that cannot be ended", talk);
    }
    return talk.judge(exit);
  }

  private AgentResult broken(Kind kind, String what, CliTurn talk) {
    return new AgentResult.Broken(kind, dialect.type() + " " + what, talk.work());
  }

  /**
   * Lets the agent end its turn in good order, then kills what is left. What it started is looked
   * for before: some of it may be found only as long as its parent lives.
   */
  private static boolean end(ManagedProcess process, Duration grace) {
    process.others();
    if (grace.isPositive()) {
      process.interrupt();
      try {
        ProcessEnd.await(process, grace);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    return process.end(Duration.ZERO);
  }

  @Override
  public StopReport stop(Duration within) {
    Duration half = within.dividedBy(2);
    Duration grace = limits.interruptGrace().compareTo(half) < 0 ? limits.interruptGrace() : half;
    return gate.stop(
        within,
        (process, _) ->
            end(process, grace) ? "" : "a process of " + dialect.type() + " could not be ended");
  }

  @Override
  public void close() {
    gate.close();
    stop(CLOSE_MAX);
  }
}
