package dev.blackbox.agent.opencode;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.ProcessEnd;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One opencode server with one session. The history that opencode keeps is the truth about a turn;
 * the answer to a prompt only says that the turn has ended.
 */
final class OpencodeAgent implements Agent {

  private static final Logger LOG = System.getLogger(OpencodeAgent.class.getName());

  private static final Duration HEALTH_MAX = Duration.ofSeconds(2);
  private static final Duration GRACE = Duration.ofSeconds(3);
  private static final Duration DISPOSE_MAX = Duration.ofSeconds(2);

  /** How long a turn that was asked to end may take while the agent is being closed. */
  private static final Duration CLOSE_STOP_MAX = Duration.ofSeconds(3);

  /** Limit for one call about a turn that is to end. */
  private static final Duration ABORT_MAX = Duration.ofSeconds(2);

  /** Pause between two requests to end a turn: one may come before the prompt does. */
  private static final Duration ABORT_PAUSE = Duration.ofMillis(250);

  /** After a prompt was answered, its last message may take a moment to be complete. */
  private static final Duration SETTLE_MAX = Duration.ofSeconds(5);

  private static final Duration SETTLE_AFTER_FAILURE_MAX = Duration.ofMillis(500);

  private static final Duration SETTLE_PAUSE = Duration.ofMillis(50);

  /** A connection that breaks is often the first sign of a process that ends. */
  private static final Duration EXIT_NOTICE = Duration.ofSeconds(1);

  private static final long LOG_BYTES_MAX = 16 << 20;

  private final AgentSlot slot;
  private final OpencodeFiles files;
  private final ManagedProcess process;
  private final OpencodeClient client;
  private final long errorsFrom;
  private final AtomicReference<@Nullable OpencodeTurn> current = new AtomicReference<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  private volatile @Nullable String session;

  /** Newest message of the turns before. Only the thread of {@link #run} uses it. */
  private Optional<String> lastMessage;

  /** False if a failed call left open what the newest message is. Only {@link #run} uses it. */
  private boolean lastMessageIsKnown = true;

  OpencodeAgent(
      AgentSlot slot,
      OpencodeFiles files,
      ManagedProcess process,
      OpencodeClient client,
      Optional<String> lastMessage,
      long errorsFrom) {
    this.slot = slot;
    this.files = files;
    this.process = process;
    this.client = client;
    this.session = slot.knownSession().orElse(null);
    this.lastMessage = lastMessage;
    this.errorsFrom = errorsFrom;
  }

  @Override
  public boolean healthy() {
    if (!process.isAlive()) {
      return false;
    }
    try {
      return client.isHealthy(HEALTH_MAX);
    } catch (OpencodeCallException silent) {
      return current.get() != null && process.isAlive();
    }
  }

  @Override
  public AgentResult run(AgentTask task) {
    OpencodeTurn turn = new OpencodeTurn(process.others());
    if (!current.compareAndSet(null, turn)) {
      throw new IllegalStateException("a turn runs already");
    }
    try {
      trimLogs();
      return runTurn(task, turn);
    } finally {
      current.set(null);
      turn.end();
    }
  }

  private AgentResult runTurn(AgentTask task, OpencodeTurn turn) {
    @Nullable OpencodeCallException failure = null;
    boolean prompted = false;
    try {
      String id = session(task);
      findLastMessage(id);
      if (!turn.isStopRequested()) {
        prompted = true;
        client.prompt(id, task.prompt());
      }
    } catch (OpencodeCallException failed) {
      failure = failed;
    }
    boolean interrupted = Thread.interrupted(); // it would fail every call that follows
    boolean stopped = turn.endPrompt();
    if (prompted && (stopped || failure != null)) {
      turn.report(endOfWork(turn));
    }
    AgentResult result = result(task, prompted, stopped, failure);
    if (interrupted) {
      Thread.currentThread().interrupt();
      return new AgentResult.Broken(Kind.UNEXPECTED, "the turn was interrupted", result.work());
    }
    return result;
  }

  /** Creates the session before the first prompt. The caller records its id before that prompt. */
  private String session(AgentTask task) throws OpencodeCallException {
    String known = session;
    if (known == null) {
      known = client.createSession(slot.sessionId().value());
      session = known;
    }
    task.backendSession().accept(known);
    return known;
  }

  private void findLastMessage(String id) throws OpencodeCallException {
    if (!lastMessageIsKnown) {
      lastMessage = client.lastMessageId(id);
      lastMessageIsKnown = true;
    }
  }

  private AgentResult result(
      AgentTask task, boolean prompted, boolean stopped, @Nullable OpencodeCallException failure) {
    @Nullable OpencodeTranscript transcript = null;
    @Nullable OpencodeCallException unread = null;
    if (prompted) {
      try {
        transcript = transcript(task, failure == null ? SETTLE_MAX : SETTLE_AFTER_FAILURE_MAX);
      } catch (OpencodeCallException failed) {
        unread = failed;
        lastMessageIsKnown = false;
      }
    }
    String id = session == null ? "" : session;
    Work work = transcript == null ? new Work("[]", "[]", Usage.NONE, id) : transcript.work(id);
    OpencodeCallException first = failure == null ? unread : failure;
    if (first != null && first.status() == 0 && hasExited()) {
      return new AgentResult.Broken(
          Kind.PROCESS,
          ProcessEnd.told(OpencodeBackend.TYPE, process, files.stderrLog(), errorsFrom),
          work);
    }
    if (stopped) {
      return new AgentResult.Stopped(work);
    }
    if (first != null) {
      return new AgentResult.Broken(first.kind(), first.text(), work);
    }
    return answer(transcript, work);
  }

  private static AgentResult answer(@Nullable OpencodeTranscript transcript, Work work) {
    if (transcript == null || (!transcript.hasOutputs() && transcript.error().isEmpty())) {
      return broken("opencode produced no material outputs", work);
    }
    if (transcript.error().isPresent()) {
      return broken(
          (transcript.isAborted() ? "opencode ended the turn unasked: " : "opencode failed: ")
              + transcript.error().get(),
          work);
    }
    return transcript.isComplete()
        ? new AgentResult.Answered(work)
        : broken("opencode ended the turn without completing its last message", work);
  }

  private static AgentResult broken(String message, Work work) {
    return new AgentResult.Broken(Kind.TRANSPORT, message, work);
  }

  /** What the turn added to the history, once its last message is complete. */
  private OpencodeTranscript transcript(AgentTask task, Duration settleMax)
      throws OpencodeCallException {
    String id = session;
    if (id == null) {
      throw OpencodeCallException.protocol("there is no session");
    }
    long deadline = System.nanoTime() + settleMax.toNanos();
    while (true) {
      List<Object> messages = client.messagesAfter(id, lastMessage);
      OpencodeTranscript transcript =
          OpencodeTranscript.of(
              messages, task.turnId(), task.traceSequence(), slot.clock().instant());
      if (transcript.isComplete() || System.nanoTime() >= deadline || !process.isAlive()) {
        if (!messages.isEmpty()) {
          lastMessage = Optional.of(OpencodeTranscript.messageId(messages.getLast()));
        }
        return transcript;
      }
      LockSupport.parkNanos(SETTLE_PAUSE.toNanos());
    }
  }

  /** Makes sure that nothing of the turn goes on, in opencode or in a process that it started. */
  private StopReport endOfWork(OpencodeTurn turn) {
    String id = session;
    if (id != null && process.isAlive()) {
      try {
        client.abort(id, ABORT_MAX);
        long deadline = System.nanoTime() + ABORT_MAX.toNanos();
        while (client.isBusy(id, ABORT_MAX)) {
          if (System.nanoTime() >= deadline) {
            return StopReport.unproved("opencode says that its session is still busy");
          }
          LockSupport.parkNanos(SETTLE_PAUSE.toNanos());
        }
      } catch (OpencodeCallException failed) {
        if (process.isAlive()) {
          return StopReport.unproved(failed.text());
        }
      }
    }
    return process.sweep(turn.before())
        ? StopReport.STOPPED
        : StopReport.unproved("a process that the turn started cannot be ended");
  }

  @Override
  public StopReport stop(Duration within) {
    OpencodeTurn turn = current.get();
    if (turn == null) {
      return StopReport.NOTHING;
    }
    boolean inTime = turn.requestStop();
    long deadline = System.nanoTime() + within.toNanos();
    try {
      while (true) {
        if (inTime && turn.beginAbort()) {
          try {
            requestAbort();
          } finally {
            turn.endAbort();
          }
        }
        Duration left = Duration.ofNanos(deadline - System.nanoTime());
        if (turn.awaitEnd(left.compareTo(ABORT_PAUSE) < 0 ? left : ABORT_PAUSE)) {
          return inTime ? turn.stopReport() : StopReport.NOTHING;
        }
        if (!left.isPositive()) {
          return StopReport.unproved(
              "opencode has not ended the turn within " + within.toMillis() + " ms");
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return StopReport.unproved("interrupted while waiting for the end of the turn");
    }
  }

  private void requestAbort() {
    String id = session;
    if (id == null) {
      return;
    }
    try {
      client.abort(id, ABORT_MAX);
    } catch (OpencodeCallException failed) {
      LOG.log(Level.DEBUG, "opencode was not told to abort: {0}", failed.text());
    }
  }

  /** After a failed call: is the process gone, or about to be? */
  private boolean hasExited() {
    try {
      return ProcessEnd.await(process, EXIT_NOTICE);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return !process.isAlive();
    }
  }

  private void trimLogs() {
    try {
      RuntimeFiles.emptyIfLargerThan(files.stdoutLog(), LOG_BYTES_MAX);
      RuntimeFiles.emptyIfLargerThan(files.stderrLog(), LOG_BYTES_MAX);
    } catch (IOException failed) {
      LOG.log(Level.WARNING, "a log of opencode cannot be emptied", failed);
    }
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    if (process.isAlive()) {
      stop(CLOSE_STOP_MAX);
      try {
        client.dispose(DISPOSE_MAX);
      } catch (OpencodeCallException failed) {
        LOG.log(Level.DEBUG, "opencode was not disposed of: {0}", failed.text());
      }
    }
    if (!process.end(GRACE)) {
      LOG.log(Level.WARNING, "opencode or a process that it started cannot be ended");
    }
  }
}
