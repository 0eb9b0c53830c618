package dev.blackbox.control;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Where the server stands. The wire name is the lower-case constant name, as in the reference
 * server.
 */
enum ServerState {
  /** Nothing is bound. */
  IDLE,
  /** An agent is being started. */
  INITIALIZING,
  /** Takes turns. */
  READY,
  /**
   * The agent is gone or could not be started; stored answers stay available, a registration leads
   * out.
   */
  ERROR,
  /** Takes nothing new. */
  SHUTTING_DOWN;

  /** The whole state machine. */
  static final Map<ServerState, Set<ServerState>> MOVES =
      Map.of(
          IDLE, EnumSet.of(INITIALIZING, SHUTTING_DOWN),
          INITIALIZING, EnumSet.of(READY, ERROR, IDLE, SHUTTING_DOWN),
          READY, EnumSet.of(INITIALIZING, ERROR, SHUTTING_DOWN),
          ERROR, EnumSet.of(INITIALIZING, SHUTTING_DOWN),
          SHUTTING_DOWN, EnumSet.noneOf(ServerState.class));

  boolean mayBecome(ServerState next) {
    return MOVES.getOrDefault(this, Set.of()).contains(next);
  }

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
