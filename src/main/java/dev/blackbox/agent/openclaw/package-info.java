/**
 * OpenClaw, through the HTTP server of its gateway, with a small plugin of ours that writes down
 * what it says. Start at {@link dev.blackbox.agent.openclaw.OpenclawBackend}.
 */
@NullMarked
package dev.blackbox.agent.openclaw;

import org.jspecify.annotations.NullMarked;
