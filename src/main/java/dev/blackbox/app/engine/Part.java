package dev.blackbox.app.engine;

/** One part of what the model says. */
public sealed interface Part {

  /** Text for the user. */
  record Text(String text) implements Part {}

  /** What a thinking model thinks. */
  record Reasoning(String text) implements Part {}

  /**
   * A call of a tool.
   *
   * @param argumentsJson JSON text, given to the agent as it is, valid or not
   */
  record ToolCall(String name, String argumentsJson) implements Part {}
}
