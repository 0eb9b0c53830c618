/**
 * The client that talks to an engine: pooling, deadlines, cancellation. Start at {@link
 * dev.blackbox.upstream.Upstream}. May use wire and kernel.
 */
@NullMarked
package dev.blackbox.upstream;

import org.jspecify.annotations.NullMarked;
