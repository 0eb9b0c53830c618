package dev.blackbox.turn;

import dev.blackbox.kernel.TurnId;

/**
 * Names one turn for ever.
 *
 * @param sessionKey the ledger's number of the session: a name like {@code sess-1} can be used
 *     again after a rebind, its number cannot
 */
public record TurnKey(long sessionKey, TurnId turnId) {}
