/**
 * The operator's own agent program: one process per turn. Start at {@link
 * dev.blackbox.agent.script.ScriptBackend}.
 */
@NullMarked
package dev.blackbox.agent.script;

import org.jspecify.annotations.NullMarked;
