package dev.blackbox.turn;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Where a shell command stands. The wire name is the lower-case constant name.
 *
 * <p>What is not in {@link #MOVES} cannot happen. A settled command never changes.
 */
public enum CommandState {
  /** Accepted and recorded; nothing of it has run. */
  QUEUED,
  /** Recorded as begun: the shell may have done any part of it. */
  RUNNING,
  /** Settled: its shell ended, by itself or at the time limit; there is a result. */
  ENDED,
  /** Settled: nothing of it has run, and the error says why. */
  FAILED,
  /**
   * Settled: ended on request, by a cancel, an abort or the end of the server, which the error
   * says. There is a result if it had begun.
   */
  CANCELLED,
  /** Settled: the server died while it ran; what it did is not known. */
  INTERRUPTED;

  /** The whole state machine. */
  public static final Map<CommandState, Set<CommandState>> MOVES =
      Map.of(
          QUEUED, EnumSet.of(RUNNING, FAILED, CANCELLED),
          RUNNING, EnumSet.of(ENDED, FAILED, CANCELLED, INTERRUPTED),
          ENDED, EnumSet.noneOf(CommandState.class),
          FAILED, EnumSet.noneOf(CommandState.class),
          CANCELLED, EnumSet.noneOf(CommandState.class),
          INTERRUPTED, EnumSet.noneOf(CommandState.class));

  public boolean mayBecome(CommandState next) {
    return MOVES.getOrDefault(this, Set.of()).contains(next);
  }

  /** True if no move leads out of this state. */
  public boolean isSettled() {
    return MOVES.getOrDefault(this, Set.of()).isEmpty();
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static CommandState ofWireName(String wireName) {
    return valueOf(wireName.toUpperCase(Locale.ROOT));
  }
}
