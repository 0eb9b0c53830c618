package dev.blackbox.ledger;

import dev.blackbox.kernel.SessionId;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Reads of committed state. Any thread, interrupted or not; never waits for the writer. They fail
 * with {@link dev.blackbox.kernel.Problem} {@code service_unavailable} when too many wait, or while
 * the database is being opened again.
 */
public interface LedgerReads {

  /** The newest session of this name. */
  Optional<SessionSnapshot> session(SessionId id);

  Optional<SessionSnapshot> session(long sessionKey);

  Optional<TurnSnapshot> turn(TurnKey turn);

  /** The newest session of this name, if it was trimmed. */
  Optional<LedgerFacts.TrimmedSession> trimmed(SessionId id);

  /** A turn of a session that was trimmed. */
  Optional<LedgerFacts.TrimmedTurn> trimmed(TurnKey turn);

  /** What a turn's caller sent with it, as JSON; {@code {}} if there is no such turn. */
  String metadataJson(TurnKey turn);

  /** The queued or inflight turn of a session; the schema allows one. */
  Optional<TurnSnapshot> activeTurn(long sessionKey);

  /** The queued turn of a session. */
  Optional<TurnSnapshot> queued(long sessionKey);

  /** The turn of a session that changed last. */
  Optional<TurnSnapshot> latestTurn(long sessionKey);

  /** All turns of a session in the order in which they were admitted, one at a time. */
  void forEachTurn(long sessionKey, Consumer<TurnSnapshot> reader);

  Optional<CommandSnapshot> command(long sessionKey, CommandId id);

  Optional<CommandSnapshot> command(long commandNumber);

  /** Commands of a session that wait, in the order in which they were admitted. */
  List<CommandSnapshot> queuedCommands(long sessionKey);

  /**
   * Commands of a session in the order in which they were admitted, at most {@code countMax},
   * without their results.
   *
   * @param afterNumber the last one that is passed over; 0: none
   */
  List<CommandSnapshot> commands(long sessionKey, long afterNumber, int countMax);

  /** Model calls of a turn, by step. */
  List<LedgerFacts.CallRecord> calls(TurnKey turn);

  Optional<LedgerFacts.CallRecord> call(String callId);

  /** The binding that no boot has closed. */
  Optional<LedgerFacts.OpenBinding> openBinding();

  /** The proxy port of the newest binding, open or not. */
  Optional<Integer> lastProxyPort();

  /** Sessions of the newest binding. */
  LedgerFacts.SessionCounts sessionCounts();

  /** Processes of earlier boots that are not known to have ended. */
  List<LedgerFacts.LeftProcess> leftProcesses();

  /** Events from a sequence number on, at most {@code countMax}. */
  List<LedgerFacts.Event> events(long fromSequence, int countMax);

  /** Checks every link of the hash chain, and every stored body against its digest (P11). */
  LedgerFacts.ChainReport verify();

  /** Bytes on disk of journal and database. */
  long bytesOnDisk();

  /** What the ledger takes on disk, and may take. */
  LedgerFacts.DiskUse diskUse();
}
