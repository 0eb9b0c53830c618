/**
 * A scripted engine: a real HTTP server that speaks OpenAI chat completions and says what a script
 * tells it, faults included. For demonstrations, tests and benchmarks. Start at {@link
 * dev.blackbox.app.engine.ScriptedEngine}; {@code docs/engine.md} has the script's format.
 */
@NullMarked
package dev.blackbox.app.engine;

import org.jspecify.annotations.NullMarked;
