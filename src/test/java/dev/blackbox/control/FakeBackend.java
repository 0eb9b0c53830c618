package dev.blackbox.control;

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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An agent inside the test's own process, for what no real one does on demand. The prompt says what
 * it does: {@code block} works until it is stopped, {@code deaf} does not even then, {@code broken}
 * fails, {@code died} loses its process, {@code call} asks its model until that answers, {@code
 * cut} asks for a stream and believes it if it looks whole, anything else is echoed. Each run is
 * counted.
 */
final class FakeBackend implements Backend {

  /** Prompts that were run, in order, over all agents of this backend. */
  final List<String> runs = new CopyOnWriteArrayList<>();

  final AtomicInteger starts = new AtomicInteger();
  final AtomicInteger looks = new AtomicInteger();
  final AtomicInteger stops = new AtomicInteger();

  /** Runs that have not returned. */
  final AtomicInteger atWork = new AtomicInteger();

  final AtomicBoolean startBug = new AtomicBoolean();
  final AtomicBoolean healthy = new AtomicBoolean(true);
  final AtomicReference<@Nullable String> startFailure = new AtomicReference<>();
  final CountDownLatch working = new CountDownLatch(1);

  /** Called when a run is counted, before it does anything. */
  volatile Runnable onRun = () -> {};

  /** What a run waits for before it can be stopped. */
  volatile CountDownLatch mayBegin = new CountDownLatch(0);

  final CountDownLatch asked = new CountDownLatch(1);
  final CountDownLatch nothingToStop = new CountDownLatch(1);

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
        if (startBug.get()) {
          throw new IllegalStateException("a bug");
        }
        String failure = startFailure.get();
        if (failure != null) {
          throw new AgentStartException(failure, null);
        }
        starts.incrementAndGet();
        return new FakeAgent(slot);
      }
    };
  }

  private final class FakeAgent implements Agent {

    private final AgentSlot slot;
    private final String session;
    private volatile CountDownLatch stop = new CountDownLatch(1);
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile String prompt = "";

    FakeAgent(AgentSlot slot) {
      this.slot = slot;
      session = slot.knownSession().orElse("fake-session");
    }

    @Override
    public boolean healthy() {
      looks.incrementAndGet();
      return healthy.get();
    }

    @Override
    public AgentResult run(AgentTask task) {
      asked.countDown();
      await(mayBegin, 20);
      stop = new CountDownLatch(1);
      prompt = task.prompt();
      running.set(true);
      atWork.incrementAndGet();
      runs.add(task.prompt());
      onRun.run();
      task.backendSession().accept(session);
      working.countDown();
      try {
        return answer(task);
      } finally {
        atWork.decrementAndGet();
        running.set(false);
      }
    }

    private AgentResult answer(AgentTask task) {
      return switch (task.prompt()) {
        case "block" -> {
          awaitStop(60);
          yield new AgentResult.Stopped(work("partial"));
        }
        case "deaf" -> {
          awaitForever();
          yield new AgentResult.Stopped(work("too late"));
        }
        case "call" -> new AgentResult.Answered(work(FakeModelCall.answer(slot)));
        case "cut" ->
            FakeModelCall.looksWhole(slot)
                ? new AgentResult.Answered(work("whole"))
                : new AgentResult.Broken(
                    AgentResult.Kind.TRANSPORT, "the model broke off", work("partial"));
        case "broken" ->
            new AgentResult.Broken(AgentResult.Kind.TRANSPORT, "it broke", work("partial"));
        case "died" -> new AgentResult.Broken(AgentResult.Kind.PROCESS, "it died", work("partial"));
        default -> new AgentResult.Answered(work("echo " + task.prompt()));
      };
    }

    @Override
    public StopReport stop(Duration within) {
      if (!running.get()) {
        nothingToStop.countDown();
        return StopReport.NOTHING;
      }
      stops.incrementAndGet();
      stop.countDown();
      return prompt.equals("deaf") ? StopReport.unproved("it is deaf") : StopReport.STOPPED;
    }

    @Override
    public void close() {
      stop.countDown();
    }

    private Work work(String text) {
      String outputs = Json.write(List.of(Message.assistant(text, null, null)));
      return new Work(outputs, "[]", new Usage(3, 2, 1, 0, 1, 0), session);
    }

    private void awaitStop(int seconds) {
      await(stop, seconds);
    }

    private static void await(CountDownLatch latch, int seconds) {
      try {
        boolean _ = latch.await(seconds, TimeUnit.SECONDS);
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }

    private void awaitForever() {
      try {
        boolean _ = new CountDownLatch(1).await(5, TimeUnit.SECONDS);
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
