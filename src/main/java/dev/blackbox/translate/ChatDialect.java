package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the proxy itself says to an agent that speaks OpenAI chat completions. Shapes: OpenAI API
 * reference, "Errors" and "Streaming"; the synthetic answers and the step budget's body are the
 * reference server's.
 */
public final class ChatDialect {

  /** The event that ends a stream. */
  public static final byte[] DONE_EVENT = utf8("data: [DONE]\n\n");

  /** What clients pass over; it only shows that the call goes on. */
  public static final byte[] KEEP_ALIVE = utf8(": keep-alive\n\n");

  private static final String VOID_ID = "chatcmpl-rollout-invalidated";
  private static final String VOID_MODEL = "proxy-model";

  private ChatDialect() {}

  /** {@code {"error": {message, type, param, code}}}. */
  public static byte[] error(String type, String code, String message) {
    return Json.writeBytes(errorTree(type, code, message));
  }

  /** An error in the middle of a stream, as an event. */
  public static byte[] errorEvent(String type, String code, String message) {
    return event(errorTree(type, code, message));
  }

  /** The body of the 429 for a turn that used up its steps. */
  public static byte[] stepsExceeded(int stepsMax) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("max_steps", stepsMax);
    details.put("attempted_step", stepsMax);
    Map<String, Object> error = new LinkedHashMap<>();
    error.put("message", "Turn exceeded max_steps.");
    error.put("type", "rate_limit_error");
    error.put("code", "max_steps_exceeded");
    error.put("details", details);
    return Json.writeBytes(Map.of("error", error));
  }

  /** An empty answer that ends an agent quietly whose rollout is void. */
  public static byte[] emptyAnswer() {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("role", "assistant");
    message.put("content", "");
    Map<String, @Nullable Object> choice = new LinkedHashMap<>();
    choice.put("index", 0);
    choice.put("message", message);
    choice.put("finish_reason", "stop");
    Map<String, @Nullable Object> usage = new LinkedHashMap<>();
    usage.put("prompt_tokens", 0);
    usage.put("completion_tokens", 0);
    usage.put("total_tokens", 0);
    Map<String, @Nullable Object> answer = envelope("chat.completion", choice);
    answer.put("usage", usage);
    return Json.writeBytes(answer);
  }

  /** As {@link #emptyAnswer}, as the events of a whole stream, or the last ones of a begun one. */
  public static byte[] emptyStream() {
    Map<String, @Nullable Object> delta = new LinkedHashMap<>();
    delta.put("role", "assistant");
    delta.put("content", "");
    Map<String, @Nullable Object> choice = new LinkedHashMap<>();
    choice.put("index", 0);
    choice.put("delta", delta);
    choice.put("finish_reason", "stop");
    byte[] chunk = event(envelope("chat.completion.chunk", choice));
    byte[] both = new byte[chunk.length + DONE_EVENT.length];
    System.arraycopy(chunk, 0, both, 0, chunk.length);
    System.arraycopy(DONE_EVENT, 0, both, chunk.length, DONE_EVENT.length);
    return both;
  }

  private static Map<String, @Nullable Object> envelope(
      String object, Map<String, @Nullable Object> choice) {
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    answer.put("id", VOID_ID);
    answer.put("object", object);
    answer.put("created", 0);
    answer.put("model", VOID_MODEL);
    answer.put("choices", List.of(choice));
    return answer;
  }

  private static Map<String, @Nullable Object> errorTree(String type, String code, String message) {
    Map<String, @Nullable Object> error = new LinkedHashMap<>();
    error.put("message", message);
    error.put("type", type);
    error.put("param", null);
    error.put("code", code);
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    tree.put("error", error);
    return tree;
  }

  /** A tree as the data of an event. */
  public static byte[] event(@Nullable Object tree) {
    return utf8("data: " + Json.write(tree) + "\n\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
