/**
 * Running rollouts: the binding, the turn engine, pause, health, commands, and recovery at boot.
 * Holds in memory only what cannot be stored: locks, waiters, processes, open scopes; everything
 * else is in the ledger. Start at {@link dev.blackbox.control.Rollout}. May use ledger, agent,
 * proxy, process, turn, wire, kernel.
 */
@NullMarked
package dev.blackbox.control;

import org.jspecify.annotations.NullMarked;
