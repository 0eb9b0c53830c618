package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how many tokens a request has, for {@code count_tokens} and where an engine reports
 * nothing: a quarter of the characters of all that a model would read, as the reference bridge
 * does, which counts text only; we count tools, calls and images too.
 */
public final class AnthropicTokens {

  private static final int CHARACTERS_PER_TOKEN = 4;

  /** What the largest image costs. Source: Anthropic documentation, "Vision". */
  private static final long IMAGE_TOKENS = 1600;

  private AnthropicTokens() {}

  /** The answer to {@code POST /v1/messages/count_tokens}. */
  public static Map<String, @Nullable Object> countTokens(@Nullable Object tree)
      throws RequestRefusedException {
    Node request = Node.root(tree);
    request.objects("messages");
    request.objects("tools");
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    answer.put("input_tokens", estimate(request.fields()));
    return answer;
  }

  /** Tokens of a request of either dialect, at least 1. */
  static long estimate(Map<?, ?> request) {
    long characters = 0;
    for (String key : List.of("system", "messages", "instructions", "input")) {
      characters += characters(request.get(key));
    }
    Object tools = request.get("tools");
    if (tools instanceof List<?> list && !list.isEmpty()) {
      characters += Json.write(tools).length();
    }
    return Math.max(1, characters / CHARACTERS_PER_TOKEN);
  }

  /** Tokens of a text of this length, at least 1. */
  public static long ofText(long characters) {
    return Math.max(1, characters / CHARACTERS_PER_TOKEN);
  }

  private static long characters(@Nullable Object content) {
    return switch (content) {
      case String text -> text.codePointCount(0, text.length());
      case List<?> list -> list.stream().mapToLong(AnthropicTokens::characters).sum();
      case Map<?, ?> object -> ofObject(object);
      case null, default -> 0;
    };
  }

  private static long ofObject(Map<?, ?> object) {
    String type = String.valueOf(object.get("type"));
    if (type.equals("image") || type.equals("input_image")) {
      return IMAGE_TOKENS * CHARACTERS_PER_TOKEN;
    }
    long sum = 0;
    for (String key : List.of("text", "thinking", "content", "output", "summary", "arguments")) {
      sum += characters(object.get(key));
    }
    Object input = object.get("input");
    if (input instanceof Map<?, ?>) {
      sum += Json.write(input).length();
    } else {
      sum += characters(input);
    }
    return sum
        + characters(object.get("source") instanceof Map<?, ?> source ? source.get("data") : null);
  }
}
