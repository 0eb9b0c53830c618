/**
 * The model door: the only way from an agent to a model. Knows which turn is open, counts its
 * steps, puts the turn's names on each call, streams what comes back, and tells a {@link
 * dev.blackbox.proxy.CallSink} about every call; never sees the ledger. Start at {@link
 * dev.blackbox.proxy.ModelProxy}. May use upstream, translate, turn, wire, kernel.
 */
@NullMarked
package dev.blackbox.proxy;

import org.jspecify.annotations.NullMarked;
