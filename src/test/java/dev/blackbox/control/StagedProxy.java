package dev.blackbox.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Secret;
import dev.blackbox.proxy.CallTotals;
import dev.blackbox.proxy.ControlCallException;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.ProxyBinding;
import dev.blackbox.proxy.TurnScope;
import dev.blackbox.proxy.Verdict;
import dev.blackbox.turn.TurnKey;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The model door without HTTP: keeps the contract of {@link ModelProxy}, and tells {@link Truth} of
 * each call that begins and ends.
 */
final class StagedProxy implements ModelProxy {

  private final Stage stage;
  private final Truth truth;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition moved = lock.newCondition();

  /** The next control call fails, or finds that the engine does not come to rest. */
  volatile boolean engineFails;

  volatile boolean engineRestless;

  @GuardedBy("lock")
  private boolean bound;

  @GuardedBy("lock")
  private boolean held;

  @GuardedBy("lock")
  private @Nullable Scope open;

  StagedProxy(Stage stage, Truth truth) {
    this.stage = stage;
    this.truth = truth;
  }

  @Override
  public int port() {
    return 1;
  }

  @Override
  public void hide(Collection<Secret> secrets) {
    // Keeps no bodies.
  }

  @Override
  public void bind(ProxyBinding binding) {
    serve(true);
  }

  @Override
  public void unbind() {
    serve(false);
  }

  private void serve(boolean anybody) {
    stage.step();
    Scope before;
    lock.lock();
    try {
      before = open;
      bound = anybody;
      open = null;
    } finally {
      lock.unlock();
    }
    if (before != null) {
      before.close();
    }
  }

  @Override
  public TurnScope openTurn(TurnKey turn, Map<String, String> trace) {
    stage.step();
    lock.lock();
    try {
      if (!bound || open != null) {
        throw new IllegalStateException(bound ? "a turn is already open" : "nothing is bound");
      }
      Scope scope = new Scope(turn);
      open = scope;
      return scope;
    } finally {
      lock.unlock();
    }
  }

  /** The scope that is open now. */
  Optional<Scope> scope() {
    lock.lock();
    try {
      return Optional.ofNullable(open);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void hold() {
    gate(true);
  }

  @Override
  public void release(Optional<String> version) {
    gate(false);
  }

  private void gate(boolean shut) {
    lock.lock();
    try {
      held = shut;
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Calls that wait look whether their agent still is there. */
  void agentMoved() {
    lock.lock();
    try {
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int callsInFlight() {
    return scope().map(Scope::callsInFlight).orElse(0);
  }

  @Override
  public Map<String, @Nullable Object> pauseUpstream(
      String reason, Optional<Double> timeoutSeconds, Duration within) throws ControlCallException {
    return Map.of("quiesced", !controlCall());
  }

  @Override
  public Map<String, @Nullable Object> resumeUpstream(
      String reason, Optional<String> version, Duration within) throws ControlCallException {
    boolean _ = controlCall();
    return Map.of();
  }

  private boolean controlCall() throws ControlCallException {
    stage.step();
    boolean restless = engineRestless;
    engineRestless = false;
    if (engineFails) {
      engineFails = false;
      throw new ControlCallException("the engine failed", null);
    }
    stage.step();
    return restless;
  }

  @Override
  public void close() {
    unbind();
  }

  /** The scope of one turn. */
  final class Scope implements TurnScope {
    private final TurnKey key;
    private final CompletableFuture<Verdict> stopDemanded = new CompletableFuture<>();
    private boolean closed;
    private int calls;
    private int steps;

    Scope(TurnKey key) {
      this.key = key;
    }

    @Override
    public Secret agentKey() {
      return Secret.of("key of " + key.turnId());
    }

    /**
     * One model call, from the agent's thread.
     *
     * @param agentGone ends the wait at a shut door, as the end of the agent's connection does
     * @param endless goes on although the scope is closed, until the agent itself ends
     * @return false if the scope ended it
     */
    boolean call(Endless endless, BooleanSupplier agentGone) throws InterruptedException {
      if (!enter(agentGone)) {
        return false;
      }
      try {
        stage.step();
        stage.step();
        return endless.letsGo() && !isClosed();
      } finally {
        leave();
      }
    }

    private boolean enter(BooleanSupplier agentGone) throws InterruptedException {
      lock.lock();
      try {
        while (held && !closed && !agentGone.getAsBoolean()) {
          moved.await();
        }
        if (closed || agentGone.getAsBoolean()) {
          return false;
        }
        calls++;
        steps++;
        truth.callBegan(key);
        return true;
      } finally {
        lock.unlock();
      }
    }

    private void leave() {
      lock.lock();
      try {
        calls--;
        truth.callEnded(key);
        moved.signalAll();
      } finally {
        lock.unlock();
      }
    }

    private boolean isClosed() {
      lock.lock();
      try {
        return closed;
      } finally {
        lock.unlock();
      }
    }

    void demandStop() {
      stopDemanded.complete(new Verdict.StepsExceeded(steps, steps));
    }

    @Override
    public TurnKey key() {
      return key;
    }

    @Override
    public CompletableFuture<Verdict> stopDemanded() {
      return stopDemanded;
    }

    @Override
    public Optional<Verdict> verdict() {
      return Optional.ofNullable(stopDemanded.getNow(null));
    }

    @Override
    public CallTotals totals() {
      return new CallTotals(steps, 0, 0, 0, 0);
    }

    @Override
    public int callsInFlight() {
      lock.lock();
      try {
        return calls;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public boolean drain(Duration within) throws InterruptedException {
      stage.step();
      lock.lock();
      try {
        long left = within.toNanos();
        while (calls > 0 && left > 0) {
          stage.expectTimers();
          left = moved.awaitNanos(left);
        }
        return calls == 0;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      lock.lock();
      try {
        closed = true;
        if (open == this) {
          open = null;
        }
        moved.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Decides when a call is over that nobody can end. */
  @FunctionalInterface
  interface Endless {
    /** Returns once it is over; false if it was cut off. */
    boolean letsGo() throws InterruptedException;
  }
}
