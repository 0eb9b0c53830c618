package dev.blackbox.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.AgentTask;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.Capabilities;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Agents of which each small step is a step of the stage. The first word of the prompt says what
 * one does, see {@link Kind}.
 */
final class StagedBackend implements Backend {

  /** What an agent does with a turn. */
  enum Kind {
    /** Calls its model twice and answers. */
    SAY,
    /** Works until it is stopped, or let go. */
    BLOCK,
    /** As BLOCK, and answers all the same when it is stopped. */
    FINISH,
    /** As BLOCK, but cannot be stopped. */
    DEAF,
    /** As BLOCK, but a model call of it cannot be ended. */
    LEAKY,
    /** Uses up its step budget. */
    GREEDY,
    /** Fails. */
    BREAK,
    /** Its process ends. */
    DIE
  }

  private final Stage stage;
  private final Truth truth;
  private final StagedProxy proxy;
  private volatile @Nullable StagedAgent newest;

  /** The next start fails. */
  volatile boolean startFails;

  StagedBackend(Stage stage, Truth truth, StagedProxy proxy) {
    this.stage = stage;
    this.truth = truth;
    this.proxy = proxy;
  }

  @Override
  public String type() {
    return "fake";
  }

  @Override
  public Capabilities capabilities() {
    return Capabilities.STANDARD;
  }

  @Override
  public String systemPromptFile() {
    return "prompts/system.txt";
  }

  @Override
  public String systemPromptTarget() {
    return "fake";
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> options) {
    return new Plan() {
      @Override
      public Map<String, String> identity() {
        return Map.of("program", "fake");
      }

      @Override
      public Agent start(AgentSlot slot) throws AgentStartException {
        stage.step();
        if (startFails) {
          startFails = false;
          throw new AgentStartException("it does not start", null);
        }
        StagedAgent agent = new StagedAgent();
        newest = agent;
        return agent;
      }
    };
  }

  /** The agent's program ends by itself, now. */
  void die() {
    StagedAgent agent = newest;
    if (agent != null) {
      agent.set(State.DEAD);
    }
  }

  /** What works until it is stopped ends its work now. */
  void letGo() {
    StagedAgent agent = newest;
    if (agent != null) {
      agent.letGo();
    }
  }

  private enum State {
    ALIVE,
    DEAD,
    CLOSED
  }

  private final class StagedAgent implements Agent {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();

    @GuardedBy("lock")
    private State state = State.ALIVE;

    @GuardedBy("lock")
    private boolean running;

    @GuardedBy("lock")
    private boolean stopped;

    @GuardedBy("lock")
    private boolean letGo;

    @GuardedBy("lock")
    private Kind kind = Kind.SAY;

    @Override
    public boolean healthy() {
      stage.step();
      lock.lock();
      try {
        return state == State.ALIVE;
      } finally {
        lock.unlock();
      }
    }

    void set(State next) {
      lock.lock();
      try {
        if (state == State.ALIVE || next == State.CLOSED) {
          state = next;
        }
        moved.signalAll();
      } finally {
        lock.unlock();
      }
      proxy.agentMoved();
    }

    private boolean isGone() {
      lock.lock();
      try {
        return state != State.ALIVE;
      } finally {
        lock.unlock();
      }
    }

    void letGo() {
      lock.lock();
      try {
        letGo = true;
        moved.signalAll();
      } finally {
        lock.unlock();
      }
    }

    @Override
    public AgentResult run(AgentTask task) {
      begin(task);
      truth.runBegan(task.turnId(), task.prompt());
      try {
        task.backendSession().accept("fake-session");
        return work(task);
      } catch (InterruptedException _) {
        stage.step();
        throw new IllegalStateException("nobody interrupts an agent");
      } finally {
        truth.runEnded(task.turnId());
        end();
      }
    }

    private void begin(AgentTask task) {
      lock.lock();
      try {
        running = true;
        stopped = false;
        letGo = false;
        kind = kindOf(task.prompt());
      } finally {
        lock.unlock();
      }
    }

    private void end() {
      lock.lock();
      try {
        running = false;
        moved.signalAll();
      } finally {
        lock.unlock();
      }
    }

    private AgentResult work(AgentTask task) throws InterruptedException {
      boolean goOn = call(() -> true);
      Work work = workOf(task);
      return switch (kindOf(task.prompt())) {
        case SAY -> goOn && call(() -> true) ? ended(work) : stoppedOr(work);
        case BLOCK, DEAF -> untilStopped(work);
        case FINISH -> {
          AgentResult result = untilStopped(work);
          yield result instanceof AgentResult.Stopped ? new AgentResult.Answered(work) : result;
        }
        case LEAKY -> {
          boolean _ = call(this::awaitLetGo);
          yield ended(work);
        }
        case GREEDY -> {
          proxy.scope().ifPresent(StagedProxy.Scope::demandStop);
          yield untilStopped(work);
        }
        case BREAK -> new AgentResult.Broken(AgentResult.Kind.TRANSPORT, "it broke", work);
        case DIE -> {
          set(State.DEAD);
          yield ended(work);
        }
      };
    }

    private boolean call(StagedProxy.Endless endless) throws InterruptedException {
      StagedProxy.Scope scope = proxy.scope().orElse(null);
      return scope != null && scope.call(endless, this::isGone);
    }

    private AgentResult untilStopped(Work work) throws InterruptedException {
      lock.lock();
      try {
        while (state == State.ALIVE && !letGo && (!stopped || kind == Kind.DEAF)) {
          moved.await();
        }
      } finally {
        lock.unlock();
      }
      stage.step();
      return stoppedOr(work);
    }

    private boolean awaitLetGo() throws InterruptedException {
      lock.lock();
      try {
        while (state == State.ALIVE && !letGo) {
          moved.await();
        }
        return true;
      } finally {
        lock.unlock();
      }
    }

    private AgentResult stoppedOr(Work work) {
      lock.lock();
      try {
        return stopped && !letGo ? new AgentResult.Stopped(work) : ended(work);
      } finally {
        lock.unlock();
      }
    }

    private AgentResult ended(Work work) {
      lock.lock();
      try {
        return switch (state) {
          case ALIVE -> new AgentResult.Answered(work);
          case DEAD -> new AgentResult.Broken(AgentResult.Kind.PROCESS, "it died", work);
          case CLOSED -> new AgentResult.Stopped(work);
        };
      } finally {
        lock.unlock();
      }
    }

    @Override
    public StopReport stop(Duration within) {
      stage.step();
      lock.lock();
      try {
        if (!running) {
          stage.expectTimers();
          return StopReport.NOTHING;
        }
        stopped = true;
        moved.signalAll();
        long left = within.toNanos();
        while (running && left > 0) {
          stage.expectTimers();
          left = moved.awaitNanos(left);
        }
        return running ? StopReport.unproved("it does not stop") : StopReport.STOPPED;
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        return StopReport.unproved("interrupted");
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      stage.step();
      set(State.CLOSED);
      stage.step();
    }
  }

  static Kind kindOf(String prompt) {
    return Kind.valueOf(prompt.substring(0, prompt.indexOf(' ')));
  }

  private static Work workOf(AgentTask task) {
    String outputs = Json.write(List.of(Message.assistant("to " + task.prompt(), null, null)));
    return new Work(outputs, "[]", new Usage(3, 2, 1, 0, 1, 0), "fake-session");
  }
}
