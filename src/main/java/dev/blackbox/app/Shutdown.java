package dev.blackbox.app;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * From the first signal to the end. The first asks for an orderly end, which has a time limit; the
 * second ends all agents and commands at once, so that the rest goes quickly; the third, or the
 * limit, ends the process where it stands. That is safe: nothing that was acknowledged is lost by
 * it, and the next start ends what was left running.
 */
final class Shutdown {

  private final CountDownLatch asked = new CountDownLatch(1);
  private final AtomicInteger signals = new AtomicInteger();
  private volatile Runnable hurry = () -> {};
  private final Duration limit;
  private final PrintStream errors;

  /**
   * @param limit from the first signal to the end of the process
   * @param errors where reasons for a forced end go
   */
  Shutdown(Duration limit, PrintStream errors) {
    this.limit = limit;
    this.errors = errors;
  }

  void onSecondSignal(Runnable action) {
    hurry = action;
  }

  /** Waits for the first signal. */
  void await() throws InterruptedException {
    asked.await();
  }

  /** A signal came. */
  void signalled(String name) {
    switch (signals.incrementAndGet()) {
      case 1 -> {
        Thread.ofPlatform().daemon().name("shutdown-limit").start(this::enforceLimit);
        asked.countDown();
      }
      case 2 -> hurry.run();
      default -> end("told to end for the third time, by SIG" + name);
    }
  }

  private void enforceLimit() {
    try {
      Thread.sleep(limit);
    } catch (InterruptedException unexpected) {
      Thread.currentThread().interrupt();
    }
    end("the orderly end took longer than " + limit.toMillis() / 1000.0 + " s");
  }

  private void end(String reason) {
    errors.println("bbs: ended at once: " + reason + ". The next start recovers.");
    errors.flush();
    Runtime.getRuntime().halt(ExitCode.SHUTDOWN_INCOMPLETE.number());
  }
}
