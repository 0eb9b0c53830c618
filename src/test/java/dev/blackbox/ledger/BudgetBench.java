package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How far and for how long the files of a ledger are above its budget, while it is written without
 * an end, and afterwards: {@code mvn -Pbench verify -Dtest=BudgetBench}; {@code
 * -Dbudget.megabytes=N}, {@code -Dbudget.seconds=N} and {@code -Dbudget.turns=N} (a second) for
 * other than 64 MB, five minutes and 100.
 */
@Tag("bench")
class BudgetBench {

  private static final long BUDGET = Long.getLong("budget.megabytes", 64) << 20;
  private static final int SECONDS = Integer.getInteger("budget.seconds", 300);
  private static final int TURNS_PER_SECOND = Integer.getInteger("budget.turns", 100);
  private static final int AFTERWARDS_SECONDS = Math.min(SECONDS, 120);
  private static final int TURNS_PER_SESSION = 50;
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  @TempDir Path temp;

  private long texts;
  private long written;

  /** What was seen of the files. */
  private static final class Seen {
    private int looks;
    private int looksOver;
    private long bytesMost;
    private long databaseMost;
    private long journalMost;
    private long usedMost;

    void look(Path state, LedgerReads reads) {
      long database = state.resolve(StateDirectory.DATABASE_FILE).toFile().length();
      LedgerFacts.DiskUse use = reads.diskUse();
      looks++;
      looksOver += use.bytes() > BUDGET ? 1 : 0;
      bytesMost = Math.max(bytesMost, use.bytes());
      usedMost = Math.max(usedMost, use.bytesInUse());
      databaseMost = Math.max(databaseMost, database);
      journalMost = Math.max(journalMost, use.bytes() - database);
    }

    String line(String when) {
      return String.format(
          Locale.ROOT,
          "%s: files at most %.2f of the budget (database %.2f, journal %.2f), in use at most %.2f;"
              + " above the budget in %d %% of %d looks",
          when,
          share(bytesMost),
          share(databaseMost),
          share(journalMost),
          share(usedMost),
          100 * looksOver / looks,
          looks);
    }

    private static double share(long bytes) {
      return (double) bytes / BUDGET;
    }
  }

  @Test
  void filesAndTheirBudget() throws Exception {
    LedgerConfig config = LedgerConfig.at(temp).keeping(new Retention(BUDGET, Duration.ZERO));
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      Seen atWork = new Seen();
      long start = System.nanoTime();
      long nextLook = start;
      int turn = 0;
      long session = 0;
      while (System.nanoTime() - start < SECONDS * 1_000_000_000L) {
        if (turn % TURNS_PER_SESSION == 0) {
          session = next(ledger, session);
        }
        run(ledger, session, "t-" + turn++);
        if (System.nanoTime() >= nextLook) {
          atWork.look(temp, ledger.reads());
          nextLook += LOOK_EVERY.toNanos();
        }
        long due = start + turn * 1_000_000_000L / TURNS_PER_SECOND;
        LockSupport.parkNanos(due - System.nanoTime());
      }
      System.out.printf(
          Locale.ROOT,
          "budget %d MB, %d turns with %d MB of text, %d sessions trimmed%n%s%n",
          BUDGET >> 20,
          turn,
          written >> 20,
          ledger.reads().diskUse().sessionsTrimmed(),
          atWork.line("at work"));
      Seen after = new Seen();
      long ended = System.nanoTime();
      long lastOver = ended;
      while (System.nanoTime() - ended < Duration.ofSeconds(AFTERWARDS_SECONDS).toNanos()) {
        after.look(temp, ledger.reads());
        lastOver = ledger.reads().bytesOnDisk() > BUDGET ? System.nanoTime() : lastOver;
        LockSupport.parkNanos(LOOK_EVERY.toNanos());
      }
      System.out.printf(
          Locale.ROOT,
          "%s, the last time after %d s; in the end %.2f of it%n",
          after.line("afterwards"),
          Duration.ofNanos(lastOver - ended).toSeconds(),
          Seen.share(ledger.reads().bytesOnDisk()));
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
    // H2 gives back what is free in its file when it is closed.
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      System.out.printf(
          Locale.ROOT,
          "after an orderly restart: %.2f of it%n",
          Seen.share(ledger.reads().bytesOnDisk()));
    }
  }

  private static long next(Ledger ledger, long session) {
    if (session > 0) {
      ledger.abort(session, "done");
    }
    return ledger.bind(Ledgers.binding("sess-" + (session + 1), OptionalLong.empty())).sessionKey();
  }

  /** So many bytes that do not compress, as base64. */
  static String text(long seed, int count) {
    byte[] bytes = new byte[count];
    new Random(seed).nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  /** Half of it compresses, half of it does not. */
  private void run(Ledger ledger, long session, String id) {
    String text = text(++texts, 1500) + "and so on ".repeat(200);
    ledger.admit(Ledgers.admit(session, id, id));
    ledger.start(Ledgers.key(session, id));
    ledger.settle(Ledgers.key(session, id), Ledgers.committed(text));
    written += text.length();
  }
}
