/**
 * Codex, driven by one process per turn. Start at {@link dev.blackbox.agent.codex.CodexBackend};
 * {@link dev.blackbox.agent.codex.CodexTurn} reads what it prints.
 */
@NullMarked
package dev.blackbox.agent.codex;

import org.jspecify.annotations.NullMarked;
