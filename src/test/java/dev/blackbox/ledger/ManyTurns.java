package dev.blackbox.ledger;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * A ledger with many answered turns, made as the writer makes it, journal first and then the rows,
 * but hundreds of facts at a time and without asking the verbs.
 */
final class ManyTurns {

  private static final int TURNS_PER_SESSION = 100;
  private static final int TURNS_PER_BATCH = 500;
  private static final String MESSAGES =
      "[{\"role\":\"user\",\"content\":\"what the weather is like\"}]";
  private static final String OUTPUTS =
      "[{\"role\":\"assistant\",\"content\":\"as it was yesterday\"}]";

  private ManyTurns() {}

  /** Closed in order; its sessions have the keys 1, 2, …, and their turns are {@code t-1}, …. */
  static void make(Path state, int turns) throws LedgerRefusedException {
    LedgerConfig config = LedgerConfig.at(state);
    try (Ledger ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system())) {
      Ledgers.session(ledger, "sess-1");
    }
    try (StateDirectory directory = StateDirectory.take(state)) {
      Storage storage =
          StorageOpening.open(
              config, directory, JournalFiles.in(directory.path()), Ledgers.BOOT.machineBootId());
      int turn = 1;
      while (turn <= turns) {
        Batch batch = storage.begin(InstantSource.system());
        int end = Math.min(turns, turn + TURNS_PER_BATCH - 1);
        for (; turn <= end; turn++) {
          record(batch, turn);
        }
        commit(storage, batch);
      }
      storage.close();
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

  private static void record(Batch batch, int turn) {
    long session = (turn - 1L) / TURNS_PER_SESSION + 1;
    int number = (turn - 1) % TURNS_PER_SESSION + 1;
    if (number == 1 && session > 1) {
      batch.record(
          new Fact.SessionOpened(
              batch.now(), session, "sess-" + session, "inst-1", 1, "rt-sess-1", "opencode"));
    }
    String id = "t-" + number;
    batch.record(
        new Fact.TurnQueued(
            batch.now(), session, id, number, false, "fingerprint of " + id, 1, MESSAGES, "{}"));
    batch.record(new Fact.TurnStarted(batch.now(), session, id, 1));
    batch.record(settled(batch, session, id));
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
  static dev.blackbox.turn.TurnKey last(int turns) {
    return Ledgers.key(
        (turns - 1L) / TURNS_PER_SESSION + 1, "t-" + ((turns - 1) % TURNS_PER_SESSION + 1));
  }

  static List<Integer> sizes() {
    return CrashTable.SCALE == 1
        ? List.of(1, 1_000)
        : List.of(1, 10_000, Integer.getInteger("crash.turns", 1_000_000));
  }
}
