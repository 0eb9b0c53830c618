package dev.blackbox.translate;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A whole tool call of an engine's answer.
 *
 * @param id unique in the conversation
 * @param tool what the agent knows it as
 * @param arguments the JSON text as the engine wrote it
 * @param input the arguments, parsed
 */
record ToolCall(
    String id, OriginalTool tool, String arguments, Map<String, @Nullable Object> input) {

  /** The plain text for a custom tool. */
  String customInput() {
    return String.valueOf(input.get(ResponsesTools.CUSTOM_INPUT));
  }
}
