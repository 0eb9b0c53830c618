package dev.blackbox.turn;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Where a turn stands. The wire name is the lower-case constant name, as in the reference server.
 *
 * <p>What is not in {@link #MOVES} cannot happen. A settled turn never changes (P4).
 */
public enum TurnState {
  /** Accepted and recorded; the agent has seen nothing of it yet. */
  QUEUED,
  /** Recorded as started: the agent may have seen the prompt. */
  INFLIGHT,
  /** Settled: the agent answered. */
  COMMITTED,
  /**
   * Settled: the agent surely did not get or do it, and the session goes on. Never produced by the
   * reference.
   */
  FAILED,
  /** Settled: ended on request. */
  CANCELLED,
  /** Settled: what the agent did is not known for sure, so the session is desynced. */
  UNKNOWN;

  /** The whole state machine. */
  public static final Map<TurnState, Set<TurnState>> MOVES =
      Map.of(
          QUEUED, EnumSet.of(INFLIGHT, CANCELLED, FAILED, UNKNOWN),
          INFLIGHT, EnumSet.of(COMMITTED, FAILED, CANCELLED, UNKNOWN),
          COMMITTED, EnumSet.noneOf(TurnState.class),
          FAILED, EnumSet.noneOf(TurnState.class),
          CANCELLED, EnumSet.noneOf(TurnState.class),
          UNKNOWN, EnumSet.noneOf(TurnState.class));

  public boolean mayBecome(TurnState next) {
    return MOVES.getOrDefault(this, Set.of()).contains(next);
  }

  /** True if no move leads out of this state. */
  public boolean isSettled() {
    return MOVES.getOrDefault(this, Set.of()).isEmpty();
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static TurnState ofWireName(String wireName) {
    return valueOf(wireName.toUpperCase(Locale.ROOT));
  }
}
