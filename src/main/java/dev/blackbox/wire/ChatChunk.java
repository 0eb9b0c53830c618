package dev.blackbox.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What one chunk of a streamed chat completion said about its first choice, or what a whole answer
 * said. Strings are empty where the engine said nothing.
 *
 * @param createdSeconds since 1970, 0 if the engine did not say
 * @param reasoning {@code reasoning_content}, or {@code reasoning} of newer vLLM, or what is {@code
 *     thinking} in a list of content
 * @param finishReason as the engine wrote it
 * @param matchedStop the stop string that ended the answer: {@code stop_reason} of vLLM, {@code
 *     matched_stop} of SGLang
 */
public record ChatChunk(
    String id,
    String model,
    long createdSeconds,
    String reasoning,
    String text,
    String refusal,
    List<ChatToolDelta> toolCalls,
    Optional<String> finishReason,
    Optional<String> matchedStop,
    Optional<ChatUsage> usage) {

  public ChatChunk {
    toolCalls = List.copyOf(toolCalls);
  }

  /**
   * Reads a whole plain answer. Its tool calls are numbered in their order.
   *
   * @throws MalformedJsonException if it is no JSON object, or has no choice with a message
   */
  public static ChatChunk ofAnswer(byte[] body) throws MalformedJsonException {
    JsonNode tree = Json.tree(body);
    if (tree == null || !tree.isObject()) {
      throw MalformedJsonException.notAnObject();
    }
    if (!tree.path("choices").path(0).path("message").isObject()) {
      throw MalformedJsonException.because("an answer without choices");
    }
    return of(tree, "message");
  }

  static ChatChunk of(JsonNode tree, String messageKey) {
    JsonNode choice = firstChoice(tree);
    JsonNode message = choice.path(messageKey);
    return new ChatChunk(
        text(tree, "id"),
        text(tree, "model"),
        tree.path("created").asLong(0),
        reasoning(message),
        content(message.path("content")),
        text(message, "refusal"),
        toolCalls(message, messageKey.equals("message")),
        optionalText(choice, "finish_reason"),
        optionalText(choice, "stop_reason").or(() -> optionalText(choice, "matched_stop")),
        tree.path("usage").isObject()
            ? Optional.of(ChatUsage.of(tree.path("usage")))
            : Optional.empty());
  }

  /** Agents ask for one choice; a chunk of another one is passed over. */
  private static JsonNode firstChoice(JsonNode tree) {
    for (JsonNode choice : tree.path("choices")) {
      if (choice.path("index").asInt(0) == 0) {
        return choice;
      }
    }
    return tree.path("choices").path(0).path("none");
  }

  /** A field, or the parts {@code thinking} of a list, which Mistral's models give. */
  private static String reasoning(JsonNode message) {
    for (String key : List.of("reasoning_content", "reasoning")) {
      if (!text(message, key).isEmpty()) {
        return text(message, key);
      }
    }
    StringBuilder thinking = new StringBuilder();
    for (JsonNode part : message.path("content")) {
      if (part.path("type").asText().equals("thinking")) {
        thinking.append(content(part.path("thinking")));
      }
    }
    return thinking.toString();
  }

  /** A string, or the text parts of a list (Mistral's models answer with a list). */
  private static String content(JsonNode content) {
    if (content.isTextual()) {
      return content.textValue();
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode part : content) {
      if (part.path("type").asText("text").equals("text")) {
        text.append(text(part, "text"));
      }
    }
    return text.toString();
  }

  /**
   * The tool calls of a message or delta.
   *
   * @param whole whether it is a message, whose calls are numbered by their order
   */
  static List<ChatToolDelta> toolCalls(JsonNode message, boolean whole) {
    List<ChatToolDelta> calls = new ArrayList<>();
    for (JsonNode call : message.path("tool_calls")) {
      JsonNode index = call.path("index");
      OptionalInt position = index.isInt() ? OptionalInt.of(index.intValue()) : OptionalInt.empty();
      calls.add(
          toolCall(
              whole ? OptionalInt.of(calls.size()) : position,
              text(call, "id"),
              call.path("function")));
    }
    JsonNode legacy = message.path("function_call");
    if (calls.isEmpty() && legacy.isObject()) {
      calls.add(toolCall(OptionalInt.of(0), "", legacy));
    }
    return calls;
  }

  private static ChatToolDelta toolCall(OptionalInt index, String id, JsonNode function) {
    JsonNode arguments = function.path("arguments");
    String text =
        arguments.isTextual()
            ? arguments.textValue()
            : arguments.isContainerNode() ? Json.write(arguments) : "";
    return new ChatToolDelta(index, id, text(function, "name"), text);
  }

  private static Optional<String> optionalText(JsonNode object, String key) {
    String text = text(object, key);
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  private static String text(JsonNode object, String key) {
    String text = object.path(key).textValue();
    return text == null ? "" : text;
  }
}
