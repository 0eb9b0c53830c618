package dev.blackbox.translate;

/** Why an engine's answer ended. */
enum FinishReason {
  /** It said what it had to say: also each reason that we do not know. */
  STOP,
  LENGTH,
  FILTERED;

  static FinishReason of(String reason) throws BrokenAnswerException {
    return switch (reason) {
      case "length", "max_tokens" -> LENGTH;
      case "content_filter" -> FILTERED;
      // SGLang and vLLM end a generation so that was aborted or went wrong.
      case "abort", "error" ->
          throw new BrokenAnswerException("the engine ended its answer with \"" + reason + "\"");
      default -> STOP;
    };
  }
}
