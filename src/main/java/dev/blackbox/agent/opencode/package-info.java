/**
 * The adapter for opencode: one resident server per binding, driven over HTTP. Start at {@link
 * dev.blackbox.agent.opencode.OpencodeBackend}, then {@code OpencodeAgent}.
 */
@NullMarked
package dev.blackbox.agent.opencode;

import org.jspecify.annotations.NullMarked;
