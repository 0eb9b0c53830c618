package dev.blackbox.process;

import dev.blackbox.kernel.Resource;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Does for orphans what an init program does: takes the exit status of those that have ended. The
 * JDK waits for each process that it starts by pid; whoever takes such a status first steals the
 * exit code. So a zombie is left alone while it is one of ours, and also at the first look: one
 * that the JDK has just started is not known as ours yet, but the JDK takes it within milliseconds.
 */
final class OrphanCollector implements Resource {

  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  /** Children of this JVM whose exit code it has not taken yet. */
  private static final Set<Long> OURS = ConcurrentHashMap.newKeySet();

  private final Thread thread;

  OrphanCollector() {
    this.thread = Thread.ofPlatform().daemon().name("orphan-collector").start(this::collect);
  }

  /** To be called for each process right after its start. */
  static void leaveToTheJdk(Process started) {
    OURS.add(started.pid());
    CompletableFuture<Process> _ =
        started.onExit().whenComplete((_, _) -> OURS.remove(started.pid()));
  }

  private void collect() {
    long self = ProcessHandle.current().pid();
    Set<ProcFs.Stat> before = Set.of();
    try {
      while (true) {
        Thread.sleep(LOOK_EVERY);
        Set<ProcFs.Stat> now = new HashSet<>(ProcFs.zombiesOf(self));
        now.removeIf(stat -> OURS.contains(stat.pid()));
        for (ProcFs.Stat stat : now) {
          if (before.contains(stat)) {
            boolean _ = Native.collect(stat.pid());
          }
        }
        before = now;
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
