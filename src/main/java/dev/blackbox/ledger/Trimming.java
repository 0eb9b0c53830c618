package dev.blackbox.ledger;

import dev.blackbox.ledger.TrimRows.ToErase;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * Trims sessions by rule. In this order: the fact that a session was trimmed is recorded, and takes
 * its rows away; its facts are taken out of full segments; that this is done is recorded. After a
 * crash it goes on with what is recorded as trimmed and not as erased.
 */
final class Trimming {

  private static final System.Logger LOG = System.getLogger(Trimming.class.getName());

  /** Later than any time that H2 and the clock know. */
  private static final Instant ANY_TIME = Instant.parse("9999-01-01T00:00:00Z");

  /** Sessions between two looks at the disk, and segments to be written once for all of them. */
  private static final int SESSIONS_PER_ROUND = 16;

  /** What is left of a session takes room too: what its trimming would give may be too little. */
  private static final Duration SAY_SO_EVERY = Duration.ofHours(1);

  private static final Duration LOOK_EVERY = Duration.ofMinutes(10);
  private static final Duration LOOK_AT_MOST_EVERY = Duration.ofMillis(100);

  private final Retention retention;
  private final Storage storage;
  private final StateDirectory directory;
  private final Writer writer;
  private final InstantSource clock;
  private final Compaction compaction;
  private Instant saidSo = Instant.EPOCH;

  Trimming(
      Retention retention,
      Storage storage,
      StateDirectory directory,
      Writer writer,
      InstantSource clock,
      Compaction compaction) {
    this.retention = retention;
    this.storage = storage;
    this.directory = directory;
    this.writer = writer;
    this.clock = clock;
    this.compaction = compaction;
  }

  /** How often to look without a new segment: sessions grow old by themselves. */
  Duration lookEvery() {
    Duration tenth = retention.ageMax().dividedBy(10);
    Duration atLeast = tenth.compareTo(LOOK_AT_MOST_EVERY) < 0 ? LOOK_AT_MOST_EVERY : tenth;
    return retention.hasAge() && atLeast.compareTo(LOOK_EVERY) < 0 ? atLeast : LOOK_EVERY;
  }

  /** Trims and erases all that is due. */
  void run(BooleanSupplier stopping) throws IOException, LedgerRefusedException {
    erase(stopping);
    while (!stopping.getAsBoolean() && trimRound(stopping)) {
      if (!erase(stopping)) {
        // The newest segment has facts of them: how much they took is not known before it is full.
        return;
      }
    }
  }

  /** False if there was nothing to trim. */
  private boolean trimRound(BooleanSupplier stopping) {
    int trimmed = 0;
    while (trimmed < SESSIONS_PER_ROUND && !stopping.getAsBoolean() && trimOne()) {
      trimmed++;
    }
    return trimmed > 0;
  }

  private boolean trimOne() {
    if (retention.hasAge()
        && oldest(clock.instant().minus(retention.ageMax()), "age").isPresent()) {
      return true;
    }
    if (!retention.hasSize() || !isTooLarge()) {
      return false;
    }
    if (oldest(ANY_TIME, "size").isPresent()) {
      return true;
    }
    sayThatNothingIsLeft();
    return false;
  }

  private boolean isTooLarge() {
    LedgerFacts.DiskUse use =
        storage.database().read(rows -> DiskUses.now(rows, directory, retention));
    return use.bytesInUse() > retention.bytesWanted(use.bytes());
  }

  private OptionalLong oldest(Instant unchangedSince, String reason) {
    return writer.run(batch -> TrimVerbs.oldest(batch, unchangedSince, reason));
  }

  private void sayThatNothingIsLeft() {
    Instant now = clock.instant();
    if (saidSo.plus(SAY_SO_EVERY).isBefore(now)) {
      saidSo = now;
      LOG.log(
          System.Logger.Level.WARNING,
          "the ledger in {0} is near or above its {1} bytes, and no session is left that may be"
              + " trimmed: raise the limit",
          directory.path(),
          retention.bytesMax());
    }
  }

  /** False if something is left that lies in the newest segment. */
  private boolean erase(BooleanSupplier stopping) throws IOException, LedgerRefusedException {
    long firstOfNewest = compaction.firstOfNewest();
    while (true) {
      List<ToErase> all =
          storage.database().read(rows -> TrimRows.toErase(rows, SESSIONS_PER_ROUND));
      List<ToErase> ready =
          all.stream().filter(each -> each.content().lastSequence() < firstOfNewest).toList();
      if (ready.isEmpty()) {
        return all.isEmpty();
      }
      boolean done =
          compaction.erase(
              ready.stream().flatMap(each -> each.content().gaps().stream()).toList(), stopping);
      if (!done) {
        return false;
      }
      for (ToErase each : ready) {
        writer.run(
            batch -> {
              TrimVerbs.erased(batch, each.sessionKey());
              return Boolean.TRUE;
            });
      }
    }
  }
}
