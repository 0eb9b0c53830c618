package dev.blackbox.translate;

import java.util.Optional;

/**
 * A tool as the agent knows it.
 *
 * @param custom whether its input is plain text, not JSON (custom tools of the Responses API)
 * @param namespace the group that the tool belongs to (namespace tools of the Responses API)
 */
public record OriginalTool(boolean custom, Optional<String> namespace, String name) {

  static OriginalTool function(String name) {
    return new OriginalTool(false, Optional.empty(), name);
  }

  /** What the tool would like to be called in a chat completion. */
  String flatName() {
    return namespace.map(space -> space + "__" + name).orElse(name);
  }
}
