package dev.blackbox.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One event of an engine's stream, read. */
public sealed interface ChatStreamEvent {

  /** Longest data that is compared with {@code [DONE]}, spaces included. */
  int DONE_LENGTH_MAX = 16;

  /** A part of the answer. */
  record Chunk(ChatChunk chunk) implements ChatStreamEvent {}

  /** An error in place of an answer; {@code frame} is the whole object. */
  record Failure(Map<String, @Nullable Object> frame) implements ChatStreamEvent {}

  /** The event {@code [DONE]}, which ends a stream. */
  record Done() implements ChatStreamEvent {}

  /**
   * Reads the data of an event.
   *
   * @throws MalformedJsonException if it is neither {@code [DONE]} nor a JSON object
   */
  static ChatStreamEvent parse(ByteSlice data) throws MalformedJsonException {
    if (data.length() <= DONE_LENGTH_MAX && data.trimmedEquals(ChatProgress.DONE)) {
      return new Done();
    }
    JsonNode tree = Json.tree(data);
    if (!tree.isObject()) {
      throw MalformedJsonException.notAnObject();
    }
    JsonNode error = tree.path("error");
    boolean hasError = error.isObject() || (error.isTextual() && !error.textValue().isEmpty());
    // vLLM up to 0.9 sends {"object": "error", "message": …} without an inner object.
    if (hasError || tree.path("object").asText().equals("error")) {
      return new Failure(Json.toTree(tree));
    }
    return new Chunk(ChatChunk.of(tree, "delta"));
  }
}
