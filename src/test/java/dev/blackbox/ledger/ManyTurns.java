package dev.blackbox.ledger;

import dev.blackbox.turn.TurnKey;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * A ledger with many answered turns, made as the writer makes it, journal first and then the rows,
 * but hundreds of facts at a time and without asking the verbs. Sessions are those of one server:
 * one after the other, each with a binding, aborted before the next, and so is the last.
 */
public final class ManyTurns {

  public static final int TURNS_PER_SESSION = 100;

  /** Of each turn. */
  public static final Message REQUEST =
      new Message("user", "what the weather is like", null, null, null, null);

  private static final int TURNS_PER_BATCH = 500;
  private static final String FINGERPRINT = Fingerprints.of(List.of(REQUEST));
  private static final String MESSAGES = Json.write(List.of(REQUEST));
  private static final String OUTPUTS =
      "[{\"role\":\"assistant\",\"content\":\"as it was yesterday\"}]";

  private ManyTurns() {}

  /**
   * Closed in order; its sessions are {@code sess-1}, … with the keys 1, 2, …, and the turns of
   * each {@code t-1}, ….
   */
  public static void make(Path state, int turns) throws LedgerRefusedException {
    LedgerConfig config = LedgerConfig.at(state);
    // A boot, of which the facts are.
    Ledger.open(config, Ledgers.BOOT, InstantSource.system()).close();
    try (StateDirectory directory = StateDirectory.take(state)) {
      Storage storage =
          StorageOpening.open(
              config, directory, JournalFiles.in(directory.path()), Ledgers.BOOT.machineBootId());
      int turn = 1;
      while (turn <= turns) {
        Batch batch = storage.begin(InstantSource.system());
        if (turn == 1) {
          batch.record(new Fact.ConfigSeen(batch.now(), "hash-1", "{}"));
        }
        int end = Math.min(turns, turn + TURNS_PER_BATCH - 1);
        for (; turn <= end; turn++) {
          record(batch, turn, turns);
        }
        commit(storage, batch);
      }
      storage.close();
      compress(directory.path());
    }
  }

  /** As the server does while it works: a start is not to do all of it. */
  private static void compress(Path state) throws LedgerRefusedException {
    Compaction compaction = new Compaction(JournalFiles.in(state), state);
    try {
      boolean more = true;
      while (more) {
        more = compaction.compressNext(() -> false);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void commit(Storage storage, Batch batch) {
    try {
      storage.commit(batch);
    } catch (UnwrittenException failure) {
      throw new IllegalStateException(failure);
    }
    storage.checkpointIfDue();
  }

  private static void record(Batch batch, int turn, int turns) {
    long session = (turn - 1L) / TURNS_PER_SESSION + 1;
    int number = (turn - 1) % TURNS_PER_SESSION + 1;
    if (number == 1) {
      open(batch, session);
    }
    String id = "t-" + number;
    batch.record(
        new Fact.TurnQueued(
            batch.now(), session, id, number, false, FINGERPRINT, 1, MESSAGES, "{}"));
    batch.record(new Fact.TurnStarted(batch.now(), session, id, 1));
    batch.record(settled(batch, session, id));
    if (number == TURNS_PER_SESSION || turn == turns) {
      batch.record(new Fact.SessionAborted(batch.now(), session, "done"));
      batch.record(new Fact.BindingClosed(batch.now(), session, "rt-" + session, "done"));
    }
  }

  private static void open(Batch batch, long session) {
    batch.record(
        new Fact.BindingOpened(
            batch.now(),
            session,
            "rt-" + session,
            1,
            "script",
            "fp-" + session,
            "hash-1",
            session,
            "sess-" + session,
            "inst-1",
            4711,
            Optional.empty(),
            false,
            "",
            Optional.empty(),
            "{}",
            "{}",
            Optional.empty()));
    batch.record(
        new Fact.SessionOpened(
            batch.now(), session, "sess-" + session, "inst-1", session, "rt-" + session, "script"));
  }

  private static Fact settled(Batch batch, long session, String id) {
    return new Fact.TurnSettled(
        batch.now(),
        session,
        id,
        "committed",
        "active",
        Optional.empty(),
        12,
        7,
        5,
        0,
        1,
        0,
        "ses_1",
        Optional.empty(),
        Optional.empty(),
        OUTPUTS,
        "[]");
  }

  /** The newest turn that {@link #make} recorded. */
  static TurnKey last(int turns) {
    return Ledgers.key(
        (turns - 1L) / TURNS_PER_SESSION + 1, "t-" + ((turns - 1) % TURNS_PER_SESSION + 1));
  }

  static List<Integer> sizes() {
    return CrashTable.SCALE == 1
        ? List.of(1, 1_000)
        : List.of(1, 10_000, Integer.getInteger("crash.turns", 1_000_000));
  }
}
