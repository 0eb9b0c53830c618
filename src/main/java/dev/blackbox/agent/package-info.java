/**
 * The port behind which every coding agent looks alike, and the table of backends. One sub-package
 * per backend; they do not see each other. Start at {@link dev.blackbox.agent.Backend}, then {@link
 * dev.blackbox.agent.Agent}. May use process, turn, wire, kernel; gets the proxy's address and key
 * as values.
 */
@NullMarked
package dev.blackbox.agent;

import org.jspecify.annotations.NullMarked;
