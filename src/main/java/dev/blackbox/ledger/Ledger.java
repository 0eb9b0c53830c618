package dev.blackbox.ledger;

import dev.blackbox.kernel.Resource;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.time.InstantSource;
import java.util.Optional;

/**
 * The store of everything that happened. Each verb states a fact and returns after that fact is
 * committed: in the journal, forced according to {@link LedgerConfig.Sync}, and visible to every
 * read (P1). One writer evaluates verbs in order, so who wins a race is decided here, and the
 * return value says so.
 *
 * <p>Verbs throw {@link dev.blackbox.kernel.Problem} {@code service_unavailable} when the journal
 * cannot be written: then nothing was recorded, and reads go on. Verbs may be called by any thread
 * and block it.
 *
 * <p>The clock is read by the writer, so that times rise with sequence numbers.
 */
public interface Ledger extends Resource {

  /**
   * Takes the lock, opens or makes the files, brings the schema up to date, applies the journal's
   * tail, and records this boot with all that {@link LedgerFacts.BootStarting} says.
   */
  static Ledger open(LedgerConfig config, LedgerFacts.BootStarting boot, InstantSource clock)
      throws LedgerRefusedException {
    return H2Ledger.open(config, boot, clock);
  }

  /**
   * Opens a ledger to read it, without a boot: what it tells of the past stays as it is. Takes the
   * lock and applies the journal's tail, as any opening does.
   *
   * @param machineBootId as in {@link LedgerFacts.BootStarting}
   */
  static Inspection inspect(LedgerConfig config, String machineBootId, InstantSource clock)
      throws LedgerRefusedException {
    return H2Ledger.inspect(config, machineBootId, clock);
  }

  /** A ledger that nobody writes to. */
  interface Inspection extends Resource {
    LedgerReads reads();
  }

  /** True once {@link #close} began: nothing can be recorded any more. */
  boolean isClosed();

  /**
   * Why nothing can be recorded at the moment, and what an operator can do; empty if all is well.
   * It is tried again by itself.
   */
  String trouble();

  /** Number of this boot, from 1. */
  long boot();

  /** Names this ledger for ever, in all its boots: a random UUID, made at its first boot. */
  String id();

  /**
   * What had to be put right since the ledger was opened, as a database that was made again from
   * the journal: one line for an operator. Empty if nothing.
   */
  Optional<String> putRight();

  /** Everything that can be asked. Never waits for the writer. */
  LedgerReads reads();

  /**
   * Settles what the boots before left open: turns in flight become {@code unknown} and desync
   * their session, commands that ran become interrupted, model calls too. What is queued stays
   * queued. To be called once, before this boot lets any agent work.
   */
  LedgerFacts.Recovered recover();

  /**
   * A new binding replaces the open one, if any. Opens a session for it unless {@code continues}
   * names one; one that continues stays paused if the one that it replaces was. Its state is {@code
   * ready} until {@link #bindingState} says otherwise.
   */
  LedgerFacts.Bound bind(LedgerFacts.Binding binding);

  /** The open binding ended. False if it was closed already. */
  boolean unbind(String runtimeId, String reason);

  /**
   * The binding's state changed: {@code ready}, or {@code error} with a reason. Nothing happens if
   * that binding is not open any more.
   */
  void bindingState(String runtimeId, String state, String reason);

  /**
   * Paused or resumed, see {@link LedgerFacts.Pause}. Nothing happens if that binding is not open
   * any more.
   */
  void pause(String runtimeId, LedgerFacts.Pause pause);

  /** The agent's own session id. */
  void backendSession(long sessionKey, String backendSessionId);

  /** A turn is asked for: finds the one that is known, or records it as queued, or says why not. */
  LedgerFacts.Admission admit(LedgerFacts.Admit admit);

  /**
   * True for exactly one caller per turn, ever: from now on the agent may see it. False if it is
   * not queued any more, or its session is not active any more.
   */
  boolean start(TurnKey turn);

  /** Records that somebody wants it to end. Returns the turn as it stands after that. */
  TurnSnapshot requestCancel(TurnKey turn);

  /**
   * The end of a turn. An {@link TurnOutcome.Unknown} desyncs the session, if it is active. Returns
   * the settlement that stands: this one, or the earlier one if another was first. A move that
   * {@link dev.blackbox.turn.TurnState#MOVES} does not list is a bug: {@link
   * IllegalStateException}, and nothing is recorded.
   */
  TurnSnapshot settle(TurnKey turn, TurnOutcome outcome);

  /** True if the session was active and is desynced now. */
  boolean desync(long sessionKey, String reason);

  /**
   * The session ends, and its queued and running turns are settled as {@code unknown} with code
   * {@code aborted}, its queued commands as cancelled. False if it was aborted already.
   */
  boolean abort(long sessionKey, String reason);

  /**
   * A shell command is asked for: finds the one that is known, or records it as queued, or says why
   * not.
   */
  LedgerFacts.CommandAdmission admitCommand(LedgerFacts.CommandAdmit admit);

  /**
   * True for exactly one caller per command, ever: from now on the shell may run. False if it is
   * not queued any more, or if its session takes no commands any more, which then is its end.
   */
  boolean beginCommand(long commandNumber);

  /**
   * The end of a command. Returns it as it then stands: with this end, or with the first. A cancel
   * without a result ends only what has not begun.
   */
  CommandSnapshot endCommand(long commandNumber, LedgerFacts.CommandEnd end);

  void processStarted(LedgerFacts.ProcessStart process);

  /** False if it is not known or had ended already. */
  boolean processEnded(LedgerFacts.ProcessEnd process);

  /**
   * Adds a fact about a model call. Does not wait: it is committed before any verb that is called
   * after this returns. Waits only if the queue is full; it is never dropped, and is kept while the
   * journal cannot be written.
   */
  void note(LedgerFacts.CallFact call);

  /** The turn that the session may run next, if one is queued. */
  default Optional<TurnSnapshot> nextQueued(long sessionKey) {
    return reads().queued(sessionKey);
  }

  /** A turn, by its name. */
  default Optional<TurnSnapshot> turn(long sessionKey, TurnId turnId) {
    return reads().turn(new TurnKey(sessionKey, turnId));
  }
}
