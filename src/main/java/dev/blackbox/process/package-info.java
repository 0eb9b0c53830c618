/**
 * Starting, watching and ending trees of processes, and capturing what they print within bounds.
 * The only room that starts processes. Start at {@link dev.blackbox.process.Processes}. May use
 * kernel.
 */
@NullMarked
package dev.blackbox.process;

import org.jspecify.annotations.NullMarked;
