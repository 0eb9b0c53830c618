/**
 * Claude Code, driven by one process per turn. Start at {@link
 * dev.blackbox.agent.claude.ClaudeBackend}; {@link dev.blackbox.agent.claude.ClaudeTurn} reads what
 * it prints.
 */
@NullMarked
package dev.blackbox.agent.claude;

import org.jspecify.annotations.NullMarked;
