package dev.blackbox.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads along with the answer to a chat completion, plain or streamed, and knows what it said about
 * itself: usage, finish reason, number of tool calls, errors, and whether it is whole. Not
 * thread-safe.
 */
public final class ChatProgress {

  /** The data of the event that ends a stream of chat completion chunks. */
  public static final String DONE = "[DONE]";

  private static final int DONE_LENGTH_MAX = 16;

  /** Source: the reference bridge's estimate. */
  private static final int BYTES_PER_TOKEN = 4;

  private ChatUsage usage = ChatUsage.UNKNOWN;
  private Optional<String> finishReason = Optional.empty();
  private final Map<Integer, String> finishReasons = new HashMap<>();
  private final ToolCallCount toolCalls = new ToolCallCount();
  private long pieces;
  private List<ToolPiece> toolPieces = List.of();
  private boolean finishing;
  private boolean done;
  private @Nullable Map<String, @Nullable Object> error;

  /**
   * Takes the data of one streamed event. Most chunks are only looked over, not parsed.
   *
   * @throws MalformedJsonException if it is neither {@code [DONE]} nor a JSON object
   */
  public void chunk(ByteSlice data) throws MalformedJsonException {
    toolPieces = List.of();
    finishing = false;
    if (data.length() <= DONE_LENGTH_MAX && data.trimmedEquals(DONE)) {
      done = true;
      return;
    }
    pieces++;
    ChunkScan scan = ChunkScan.of(data);
    if (scan == ChunkScan.PLAIN) {
      return;
    }
    JsonNode tree = Json.tree(data);
    if (!tree.isObject()) {
      throw MalformedJsonException.notAnObject();
    }
    take(tree, "delta");
  }

  /**
   * Takes a whole plain answer.
   *
   * @throws MalformedJsonException if it is not a JSON object that has choices or an error
   */
  public void answer(byte[] body) throws MalformedJsonException {
    JsonNode tree = Json.tree(body);
    if (tree == null || !tree.isObject()) {
      throw MalformedJsonException.notAnObject();
    }
    pieces = body.length / BYTES_PER_TOKEN;
    take(tree, "message");
    if (error == null && !tree.path("choices").path(0).path("message").isObject()) {
      throw MalformedJsonException.because("an answer without choices");
    }
  }

  public ChatUsage usage() {
    return usage;
  }

  /**
   * About how many tokens an answer without usage has, at least 1: engines send a chunk for each;
   * of plain answers, a quarter of the bytes.
   */
  public long completionTokensEstimated() {
    return Math.max(1, pieces);
  }

  /** The last finish reason seen. */
  public Optional<String> finishReason() {
    return finishReason;
  }

  public int toolCalls() {
    return toolCalls.value();
  }

  /**
   * What the last event said of tool calls, in its order; of a plain answer, its whole calls. Most
   * often empty.
   */
  public List<ToolPiece> toolPieces() {
    return toolPieces;
  }

  /** Whether the last event had a finish reason. */
  public boolean finishing() {
    return finishing;
  }

  /** Why a choice came to its end; empty if it did not. */
  public Optional<String> finishReason(int choice) {
    return Optional.ofNullable(finishReasons.get(choice));
  }

  /** Whether the {@code [DONE]} event came. */
  public boolean done() {
    return done;
  }

  /** Whether at least this many choices came to their end. */
  public boolean finished(int choices) {
    return finishReasons.size() >= choices;
  }

  /** The whole object of the last event or answer that was an error, or null. */
  public @Nullable Map<String, @Nullable Object> error() {
    return error;
  }

  private void take(JsonNode tree, String messageKey) {
    JsonNode errorNode = tree.path("error");
    boolean hasError =
        errorNode.isObject() || (errorNode.isTextual() && !errorNode.textValue().isEmpty());
    // vLLM up to 0.9 sends {"object": "error", "message": …} without an inner object.
    if (hasError || tree.path("object").asText().equals("error")) {
      error = Json.toTree(tree);
      return;
    }
    if (tree.path("usage").isObject()) {
      ChatUsage told = ChatUsage.of(tree.path("usage"));
      usage = told.equals(ChatUsage.UNKNOWN) ? usage : told;
    }
    List<ToolPiece> found = new ArrayList<>();
    for (JsonNode choice : tree.path("choices")) {
      int index = choice.path("index").asInt(0);
      String reason = choice.path("finish_reason").textValue();
      // Some engines send an empty one with each chunk.
      if (reason != null && !reason.isEmpty()) {
        finishReason = Optional.of(reason);
        finishReasons.put(index, reason);
        finishing = true;
      }
      JsonNode message = choice.path(messageKey);
      for (ChatToolDelta delta : ChatChunk.toolCalls(message, messageKey.equals("message"))) {
        ToolPiece piece = new ToolPiece(index, delta);
        toolCalls.add(piece);
        found.add(piece);
      }
    }
    toolPieces = found;
  }
}
