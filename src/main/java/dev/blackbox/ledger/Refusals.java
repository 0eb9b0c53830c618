package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerRefusedException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a ledger whose files do not fit together is not opened, in words for an operator. */
record Refusals(StateDirectory directory) {

  /** Something else stands in the database's place. */
  LedgerRefusedException notAFile() {
    return refused(
        directory.databaseFile()
            + " is not a file, but a directory or a link that leads nowhere. Move it away: the"
            + " database is then made again from the journal.",
        null);
  }

  LedgerRefusedException lostJournal(long safe) {
    return refused(
        directory.path()
            + " has no journal, but "
            + DatabaseMark.FILE_NAME
            + " says that there were "
            + safe
            + " facts. Put the journal-*.log files back, or restore everything from one backup."
            + " To begin a new ledger, choose an empty directory.",
        null);
  }

  /**
   * @param witness the file that knows better
   */
  LedgerRefusedException lostEnd(long end, String witness, long safe) {
    return refused(
        "the journal in "
            + directory.path()
            + " ends at fact "
            + end
            + ", but according to "
            + witness
            + " fact "
            + safe
            + " was safe: the end of the journal is lost. Put the journal-*.log files back, or"
            + " restore everything from one backup.",
        null);
  }

  LedgerRefusedException lostDatabase(long first) {
    return refused(
        directory.databaseFile()
            + " is missing or empty, and the journal begins only after fact "
            + (first - 1)
            + ". Put the database back, or restore database and journal from one backup.",
        null);
  }

  LedgerRefusedException damagedDatabase(Exception broken) {
    return refused(
        "the database "
            + directory.databaseFile()
            + " cannot be used: "
            + broken.getMessage()
            + ". Restore database and journal from one backup.",
        broken);
  }

  LedgerRefusedException badHistory(String why, List<String> problems) {
    return refused(
        "the database "
            + directory.databaseFile()
            + " cannot be trusted, because "
            + why
            + "; its history has "
            + problems.size()
            + " problems (first: "
            + problems.getFirst()
            + "), and the journal does not begin with the first fact. Restore database and journal"
            + " from one backup.",
        null);
  }

  private static LedgerRefusedException refused(String message, @Nullable Exception cause) {
    return new LedgerRefusedException(Reason.DAMAGED, message, cause);
  }
}
