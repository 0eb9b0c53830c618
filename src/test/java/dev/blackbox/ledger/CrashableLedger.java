package dev.blackbox.ledger;

import dev.blackbox.ledger.FaultyFiles.Operation;
import dev.blackbox.ledger.LedgerConfig.Sync;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** A real ledger for tests of other rooms, which can be left as a crash leaves it. */
public final class CrashableLedger {

  private final Path directory;
  private final FaultyFiles files;
  private final Ledger ledger;

  private CrashableLedger(Path directory, FaultyFiles files, Ledger ledger) {
    this.directory = directory;
    this.files = files;
    this.ledger = ledger;
  }

  /** Nothing is forced to the disk, and the journal keeps every fact. */
  public static CrashableLedger open(Path directory) throws LedgerRefusedException {
    FaultyFiles files = new FaultyFiles();
    LedgerConfig config =
        new LedgerConfig(directory, Sync.PROCESS, 4096, Long.MAX_VALUE, Duration.ofDays(1), 1);
    return new CrashableLedger(directory, files, Ledgers.open(config, files));
  }

  public Ledger ledger() {
    return ledger;
  }

  /** Lets go of the files, after which nothing can be recorded: not even the end of this boot. */
  public void crash() {
    files.failing.add(Operation.APPEND);
    ledger.close();
  }

  public void close() {
    ledger.close();
  }

  /** What a crash leaves that takes the database with it, in a new directory. */
  public Path journalOnly(Path to) throws IOException {
    return Ledgers.journalOnly(directory, to);
  }

  public Path directory() {
    return directory;
  }
}
