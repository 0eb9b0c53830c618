package dev.blackbox.ledger;

import dev.blackbox.kernel.Resource;
import java.nio.file.Path;

/**
 * A database that is only looked at.
 *
 * @param database whose file stays as it is
 */
record OpenRows(Database database) implements Resource {

  static OpenRows of(Path directory, JournalFiles files) {
    return new OpenRows(Database.openReadOnly(directory, files, LedgerConfig.at(directory)));
  }

  @Override
  public void close() {
    database.abandon();
  }
}
