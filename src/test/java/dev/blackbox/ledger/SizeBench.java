package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How large a ledger is, compared with the texts of requests and answers in UTF-8, and how fast it
 * opens after a kill. {@code mvn -B test -Pbench -Dtest=SizeBench}; {@code -Dsize.turns=N} for
 * other than 100,000 turns.
 */
@Tag("bench")
class SizeBench {

  private static final int BODY_BYTES = 2048;

  @TempDir Path temp;

  @Test
  void sizeOnDiskAndReopeningAfterAKill() throws Exception {
    int turns = Integer.getInteger("size.turns", 100_000);
    Path state = temp.resolve("state");
    Path killed = Files.createDirectory(temp.resolve("killed"));
    LedgerConfig config = LedgerConfig.at(state);
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      long session = Ledgers.session(ledger, "sess-1");
      for (int turn = 0; turn < turns; turn++) {
        run(ledger, session, turn);
      }
      awaitCompressed(state);
      for (String name : JournalFiles.in(state).list()) {
        if (!name.equals(StateDirectory.LOCK_FILE)) {
          Files.copy(state.resolve(name), killed.resolve(name));
        }
      }
    }
    long start = System.nanoTime();
    try (Ledger ledger =
        Ledger.open(LedgerConfig.at(killed), Ledgers.BOOT, InstantSource.system())) {
      Duration open = Duration.ofNanos(System.nanoTime() - start);
      assertThat(ledger.putRight()).isEmpty();
      print("after a kill", turns, killed, open);
    }
    start = System.nanoTime();
    try (Ledger ledger =
        Ledger.open(LedgerConfig.at(state), Ledgers.BOOT, InstantSource.system())) {
      print("after an orderly end", turns, state, Duration.ofNanos(System.nanoTime() - start));
      assertThat(ledger.reads().turn(Ledgers.key(1, "t-0"))).isPresent();
    }
  }

  /** The thread that compresses comes behind after so many turns in a row. */
  private static void awaitCompressed(Path state) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .until(
            () ->
                Ledgers.segments(state).stream()
                        .filter(file -> !SegmentHeader.isCompressed(file.toString()))
                        .count()
                    == 1);
  }

  /** Every word once; the common ones are picked more often, about as in a language. */
  private static final String[] WORDS = words();

  private static String[] words() {
    Random random = new Random(7);
    String[] words = new String[4000];
    for (int i = 0; i < words.length; i++) {
      StringBuilder word = new StringBuilder();
      for (int length = 2 + random.nextInt(9); length > 0; length--) {
        word.append((char) ('a' + random.nextInt(26)));
      }
      words[i] = word.toString();
    }
    return words;
  }

  /** A text of its own for each turn, which is about as hard to compress as prose. */
  private static String text(int turn) {
    Random random = new Random(turn);
    StringBuilder text = new StringBuilder(BODY_BYTES + 16);
    while (text.length() < BODY_BYTES) {
      text.append(WORDS[(int) (Math.pow(WORDS.length, random.nextDouble()) - 1)]).append(' ');
    }
    text.setLength(BODY_BYTES);
    return text.toString();
  }

  private static void run(Ledger ledger, long session, int turn) {
    String text = text(turn);
    String id = "t-" + turn;
    ledger.admit(
        new LedgerFacts.Admit(
            session,
            Ledgers.admit(session, id, id).turnId(),
            "fingerprint of " + id,
            text,
            "{}",
            java.util.Optional.empty(),
            Integer.MAX_VALUE));
    ledger.start(Ledgers.key(session, id));
    ledger.settle(Ledgers.key(session, id), Ledgers.committed(text));
  }

  private static void print(String when, int turns, Path directory, Duration open)
      throws Exception {
    long data = (long) turns * 2 * BODY_BYTES;
    System.out.printf(
        Locale.ROOT,
        "%s: %d turns of 4 KB, data %d MB, journal %d MB (%.2f), database %d MB (%.2f), together"
            + " %.2f, open in %d ms%n",
        when,
        turns,
        data >> 20,
        bytes(directory, "journal-") >> 20,
        (double) bytes(directory, "journal-") / data,
        bytes(directory, "ledger.mv") >> 20,
        (double) bytes(directory, "ledger.mv") / data,
        (double) (bytes(directory, "journal-") + bytes(directory, "ledger.mv")) / data,
        open.toMillis());
  }

  private static long bytes(Path directory, String prefix) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .mapToLong(file -> file.toFile().length())
          .sum();
    }
  }
}
