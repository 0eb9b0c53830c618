package dev.blackbox.app.engine;

import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the engine makes of a chat completion request.
 *
 * @param place where in the script this is: the last user text and the assistant messages after it
 * @param assistantMessagesAfter number of assistant messages after the last user message
 */
record ChatQuestion(
    String model,
    boolean stream,
    boolean wantsUsage,
    String lastUserText,
    int assistantMessagesAfter,
    long promptTokens,
    long cachedTokens,
    String place) {

  /** Tokens that each message costs besides its text. */
  private static final int TOKENS_PER_MESSAGE = 4;

  static ChatQuestion read(byte[] body) throws MalformedJsonException {
    Object tree = Json.parse(body);
    if (!(tree instanceof Map<?, ?> request)
        || !(request.get("messages") instanceof List<?> messages)) {
      throw new IllegalArgumentException("not a chat completion request");
    }
    boolean stream = Boolean.TRUE.equals(request.get("stream"));
    boolean wantsUsage =
        !stream
            || (request.get("stream_options") instanceof Map<?, ?> options
                && Boolean.TRUE.equals(options.get("include_usage")));
    String lastUserText = "";
    int assistantsAfter = 0;
    int usersBefore = 0;
    long prompt = 0;
    long cached = 0;
    for (Object entry : messages) {
      Map<?, ?> message = entry instanceof Map<?, ?> object ? object : Map.of();
      String text = textOf(message.get("content"));
      if ("user".equals(message.get("role"))) {
        lastUserText = text;
        assistantsAfter = 0;
        usersBefore++;
        cached = prompt;
      } else if ("assistant".equals(message.get("role"))) {
        assistantsAfter++;
      }
      prompt += TOKENS_PER_MESSAGE + EngineUsage.tokensOf(text);
    }
    return new ChatQuestion(
        request.get("model") instanceof String name ? name : "scripted",
        stream,
        wantsUsage,
        lastUserText,
        assistantsAfter,
        prompt,
        cached,
        usersBefore + "/" + assistantsAfter + "/" + lastUserText);
  }

  private static String textOf(@Nullable Object content) {
    return switch (content) {
      case String text -> text;
      case List<?> parts -> {
        StringBuilder joined = new StringBuilder();
        for (Object part : parts) {
          if (part instanceof Map<?, ?> object && object.get("text") instanceof String text) {
            joined.append(text);
          }
        }
        yield joined.toString();
      }
      case null, default -> "";
    };
  }
}
