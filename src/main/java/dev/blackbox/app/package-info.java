/**
 * The program: commands, the wiring of all rooms, signals, logging. Start at {@link
 * dev.blackbox.app.Main}; {@link dev.blackbox.app.Server} opens everything in its order. Nothing
 * else may use this room; it may use everything, and it is the only one that prints.
 */
@NullMarked
package dev.blackbox.app;

import org.jspecify.annotations.NullMarked;
