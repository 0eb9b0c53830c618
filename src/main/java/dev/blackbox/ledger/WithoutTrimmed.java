package dev.blackbox.ledger;

import dev.blackbox.ledger.JournalReader.Tail;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Passes on all facts but those that a later one says were trimmed. A journal may have some of a
 * session's facts still, and not the others, when it was cut short in taking them out.
 */
final class WithoutTrimmed implements JournalReader.Sink {

  /** As {@link FactCodec} begins such a head. */
  private static final String TRIMMED = "{\"type\":\"session_trimmed\"";

  /** First and last of each range. */
  private final TreeMap<Long, Long> trimmed = new TreeMap<>();

  private final JournalReader.Sink rows;

  private WithoutTrimmed(JournalReader.Sink rows) {
    this.rows = rows;
  }

  /** Reads the journal once, as it is to be read again. */
  static WithoutTrimmed of(JournalReader reader, long through, Tail tail, JournalReader.Sink rows)
      throws IOException, LedgerRefusedException {
    WithoutTrimmed without = new WithoutTrimmed(rows);
    reader.replay(Chain.START, through, tail, fact -> without.note(fact.fact()));
    return without;
  }

  private void note(FactCodec.Encoded fact) {
    if (fact.head().startsWith(TRIMMED)) {
      TrimmedContent.of(fact.bodies().getFirst())
          .gaps()
          .forEach(gap -> trimmed.put(gap.first(), gap.last().sequence()));
    }
  }

  @Override
  public void accept(JournalRecord fact) throws IOException, LedgerRefusedException {
    Map.Entry<Long, Long> range = trimmed.floorEntry(fact.sequence());
    if (range == null || range.getValue() < fact.sequence()) {
      rows.accept(fact);
    }
  }
}
