package dev.blackbox.wire;

/**
 * A piece of a tool call, and the choice that it belongs to.
 *
 * @param choice from 0
 */
public record ToolPiece(int choice, ChatToolDelta delta) {}
