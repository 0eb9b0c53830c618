package dev.blackbox.ledger;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Opens journal and database so that they agree, for {@link Storage}, or lets go of both. */
final class StorageOpening {

  private StorageOpening() {}

  /** Opens both, applies what the database does not have yet, and begins a new segment. */
  static Storage open(
      LedgerConfig config, StateDirectory directory, JournalFiles files, String machineBootId)
      throws LedgerRefusedException {
    @Nullable Storage storage = null;
    try {
      DatabaseDoor door = new DatabaseDoor(config, directory, files, machineBootId);
      storage =
          new Storage(config, directory, door, new Journal(files, config.sync()), door.open());
      storage.begin();
      return storage;
    } catch (IOException | RuntimeException failure) {
      if (storage != null) {
        storage.abandon();
      }
      throw StateDirectory.notWritable(directory.path(), Storage.rootMessage(failure), failure);
    }
  }
}
