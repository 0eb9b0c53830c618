/**
 * Pure functions between model formats: what an engine's error means, and how to say it to an agent
 * in its own dialect. No I/O, no clock, no threads. Start at {@link
 * dev.blackbox.translate.EngineErrors}. May use wire and kernel.
 */
@NullMarked
package dev.blackbox.translate;

import org.jspecify.annotations.NullMarked;
