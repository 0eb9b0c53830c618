package dev.blackbox.wire;

import java.util.OptionalInt;

/**
 * A piece of a tool call as an engine sent it; strings are empty where it said nothing.
 *
 * @param index which call of the answer it belongs to, where the engine says so
 * @param arguments a part of the JSON text of the arguments
 */
public record ChatToolDelta(OptionalInt index, String id, String name, String arguments) {}
