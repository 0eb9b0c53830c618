package dev.blackbox.translate;

import dev.blackbox.wire.ChatChunk;
import java.util.Locale;

/** Why an engine's answer ended. */
enum FinishReason {
  /** It said what it had to say: also each reason that we do not know. */
  STOP,
  LENGTH,
  FILTERED;

  /**
   * The reason of a whole answer.
   *
   * @throws BrokenAnswerException if the engine broke off, or gave none
   */
  static FinishReason of(ChatChunk answer) throws BrokenAnswerException {
    return of(
        answer
            .finishReason()
            .orElseThrow(
                () -> new BrokenAnswerException("the engine's answer has no finish reason")));
  }

  static FinishReason of(String reason) throws BrokenAnswerException {
    return switch (reason.toLowerCase(Locale.ROOT)) {
      // model_length: Mistral's, for the end of the context window.
      case "length", "max_tokens", "model_length" -> LENGTH;
      case "content_filter" -> FILTERED;
      // SGLang and vLLM end a generation so that was aborted or went wrong, TensorRT-LLM one that
      // took too long or was given up, DeepSeek one that it has no room for.
      case "abort", "error", "timeout", "cancelled", "insufficient_system_resource" ->
          throw new BrokenAnswerException("the engine ended its answer with \"" + reason + "\"");
      default -> STOP;
    };
  }
}
