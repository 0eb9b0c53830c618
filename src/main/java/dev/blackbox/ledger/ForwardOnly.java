package dev.blackbox.ledger;

import java.io.IOException;

/**
 * Facts for rows that have those before. Rows that have some facts of a trimmed session, and not
 * the fact that it was trimmed, cannot be brought forward: what comes after fits rows that have all
 * of them, or none. So the database is made again.
 */
record ForwardOnly(JournalReader.Sink rows) implements JournalReader.Sink {

  @Override
  public void accept(JournalRecord fact) throws IOException, LedgerRefusedException {
    rows.accept(fact);
  }

  @Override
  public void gap(JournalRecord gap) {
    throw new IllegalStateException(
        "it lacks facts that were trimmed since, " + gap.gapFirst() + " to " + gap.sequence());
  }
}
