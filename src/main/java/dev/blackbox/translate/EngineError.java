package dev.blackbox.translate;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What an engine's error means for the turn. */
public sealed interface EngineError {

  /** A sentence for people. */
  String message();

  /** The context window is full. Details as the engine gave them, possibly none. */
  record ContextOverflow(String message, Map<String, @Nullable Object> details)
      implements EngineError {}

  /** The rollout is void; {@code error} is the engine's code. */
  record Invalidated(String error, String message) implements EngineError {}

  /** Any other failure. */
  record Other(String message) implements EngineError {}
}
