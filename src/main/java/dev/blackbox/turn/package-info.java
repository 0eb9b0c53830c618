/**
 * What a turn and a session are: states, the tables of their moves, outcomes, limits, and the
 * snapshots that other rooms pass around. Start at {@link dev.blackbox.turn.TurnState}. No I/O, no
 * clock, no threads. May use kernel.
 */
@NullMarked
package dev.blackbox.turn;

import org.jspecify.annotations.NullMarked;
