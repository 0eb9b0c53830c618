package dev.blackbox.translate;

import java.util.OptionalInt;

/**
 * What the engine can take, where engines differ.
 *
 * @param system what becomes of system text in the middle of a conversation
 * @param topK whether {@code top_k} is passed on, which vLLM, SGLang and llama.cpp know and hosted
 *     OpenAI refuses
 * @param reasoningHistory whether earlier thinking goes back to the engine, as {@code
 *     reasoning_content}
 * @param reasoningEffort whether thinking budgets and efforts become {@code reasoning_effort}
 * @param singleToolCalls whether the engine is asked for one tool call at a time, whatever the
 *     agent asked for
 * @param maxTokensMax largest {@code max_tokens} that is asked for; larger ones are lowered to it
 */
public record TranslationOptions(
    SystemPlacement system,
    boolean topK,
    boolean reasoningHistory,
    boolean reasoningEffort,
    boolean singleToolCalls,
    OptionalInt maxTokensMax) {

  /** Where system text goes that does not stand at the beginning. */
  public enum SystemPlacement {
    /** To the end of the one system message, as the reference server does. */
    HOIST,
    /** It stays where it is, for engines whose template takes that; the prefix does not change. */
    IN_PLACE
  }

  /** What suits most engines. */
  public static final TranslationOptions DEFAULT =
      new TranslationOptions(SystemPlacement.HOIST, true, true, true, false, OptionalInt.empty());
}
