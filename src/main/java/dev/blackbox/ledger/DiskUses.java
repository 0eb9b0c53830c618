package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerFacts.DiskUse;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jdbi.v3.core.Handle;

/** What the files of a ledger take, and how much of that is in use. */
final class DiskUses {

  private DiskUses() {}

  static DiskUse now(Handle rows, StateDirectory directory, Retention retention) {
    long database = directory.databaseFile().toFile().length();
    long bytes = bytes(directory);
    return new DiskUse(
        bytes,
        bytes - database + database * percentInUse(rows) / 100,
        retention.bytesMax(),
        TrimRows.count(rows));
  }

  static long bytes(StateDirectory directory) {
    try {
      return directory.bytesOnDisk();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * What H2 has free within its file it uses again, or gives back, once it is older than H2's
   * retention time of 45 s.
   */
  private static int percentInUse(Handle rows) {
    return Sql.first(
            rows,
            """
            SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS
            WHERE SETTING_NAME = 'info.CHUNKS_FILL_RATE'\
            """,
            row -> row.getInt(1))
        .orElse(100);
  }
}
