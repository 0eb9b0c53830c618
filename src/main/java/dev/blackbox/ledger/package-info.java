/**
 * Durable memory: a journal of facts in front of an embedded database that holds the facts applied.
 * Owns the files of the state directory, all SQL, the single writer and the hash chain; the only
 * room that knows JDBI, H2 and Flyway. Start at {@link dev.blackbox.ledger.Ledger}; its Javadoc is
 * the promise. May use turn, wire, kernel.
 */
@NullMarked
package dev.blackbox.ledger;

import org.jspecify.annotations.NullMarked;
