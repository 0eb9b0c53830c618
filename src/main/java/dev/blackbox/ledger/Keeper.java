package dev.blackbox.ledger;

import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The thread that keeps the ledger small while it is written: it compresses segments that are full,
 * and trims what is not to be kept. Nobody waits for it, and it works at most half of the time, so
 * that whoever does wait for the disk gets it.
 */
final class Keeper implements Resource {

  private static final System.Logger LOG = System.getLogger(Keeper.class.getName());

  /** After something failed, as on a full disk. */
  private static final Duration RETRY_AFTER = Duration.ofSeconds(30);

  private final Compaction compaction;
  private final Trimming trimming;
  private final Semaphore work = new Semaphore(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Thread thread;

  private Keeper(Compaction compaction, Trimming trimming) {
    this.compaction = compaction;
    this.trimming = trimming;
    this.thread = Thread.ofPlatform().daemon().name("ledger-keeper").unstarted(this::run);
  }

  static Keeper start(Compaction compaction, Trimming trimming) {
    Keeper keeper = new Keeper(compaction, trimming);
    keeper.thread.start();
    return keeper;
  }

  /** A segment was begun: perhaps there is something to do. */
  void wake() {
    work.release();
  }

  private boolean isStopped() {
    return stopped.getCount() == 0;
  }

  private void run() {
    try {
      while (!isStopped()) {
        boolean woken = work.tryAcquire(trimming.lookEvery().toNanos(), TimeUnit.NANOSECONDS);
        LOG.log(System.Logger.Level.DEBUG, "looks at the ledger, woken: {0}", woken);
        work.drainPermits();
        doAll();
      }
    } catch (InterruptedException nobodyDoes) {
      LOG.log(System.Logger.Level.WARNING, "the ledger's keeper was interrupted and ends");
    }
  }

  private void doAll() throws InterruptedException {
    try {
      long start = System.nanoTime();
      while (!isStopped() && compaction.compressNext(this::isStopped)) {
        boolean ended = stopped.await(System.nanoTime() - start, TimeUnit.NANOSECONDS);
        LOG.log(System.Logger.Level.DEBUG, "a segment was compressed, ended: {0}", ended);
        start = System.nanoTime();
      }
      if (!isStopped()) {
        trimming.run(this::isStopped);
      }
    } catch (IOException | LedgerRefusedException | RuntimeException failure) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the ledger takes more room than it needs, and this is tried again: {0}",
          Storage.rootMessage(failure));
      if (!stopped.await(RETRY_AFTER.toNanos(), TimeUnit.NANOSECONDS)) {
        wake();
      }
    }
  }

  /** Ends it in the middle of what it does; what is there is whole. */
  @Override
  public void close() {
    stopped.countDown();
    wake();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
