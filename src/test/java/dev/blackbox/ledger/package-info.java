/** Tests of the ledger, with real files, and real processes where something is killed. */
package dev.blackbox.ledger;
