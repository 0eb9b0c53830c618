package dev.blackbox.proxy;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the model calls of a turn say about the turn, gravest first. */
public sealed interface Verdict {

  /** The turn's step budget is used up. */
  record StepsExceeded(int stepsMax, int attemptedStep) implements Verdict {}

  /** The engine said that the context window is full. Details as the engine gave them. */
  record ContextOverflow(String message, Map<String, @Nullable Object> details)
      implements Verdict {}

  /**
   * The engine said that this rollout is void.
   *
   * @param error the engine's code, such as {@code generation_preempted}; controllers search for it
   *     in error texts
   */
  record RolloutInvalidated(String error, String message) implements Verdict {}

  /** The last failed call, if no later one succeeded. Status 0: no HTTP answer at all. */
  record UpstreamFailed(int status, String message) implements Verdict {}
}
