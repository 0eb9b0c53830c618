package dev.blackbox.turn;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Where a session stands. There is no way back from any state: a fresh start is a new session under
 * the same name.
 */
public enum SessionState {
  /** Takes turns. */
  ACTIVE,
  /**
   * A turn ended in a way that leaves the agent's own memory uncertain; no new turns, stored
   * answers stay available.
   */
  DESYNCED,
  /** Ended by its controller. */
  ABORTED;

  /** The whole state machine. */
  public static final Map<SessionState, Set<SessionState>> MOVES =
      Map.of(
          ACTIVE, EnumSet.of(DESYNCED, ABORTED),
          DESYNCED, EnumSet.of(ABORTED),
          ABORTED, EnumSet.noneOf(SessionState.class));

  public boolean mayBecome(SessionState next) {
    return MOVES.getOrDefault(this, Set.of()).contains(next);
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static SessionState ofWireName(String wireName) {
    return valueOf(wireName.toUpperCase(Locale.ROOT));
  }
}
