package dev.blackbox.translate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An agent's request as a chat completion request, and what is needed to answer it in its dialect.
 *
 * @param chat the tree of the chat completion request
 * @param model as the agent named it
 * @param tools the names that the tools have now
 * @param callIds the ids of the tool calls in the conversation, which no new call may have
 * @param stopSequences as the agent gave them
 * @param inputTokensEstimated how long the prompt may be, for what must be said before the engine
 *     says it
 * @param echoed fields that an answer in this dialect repeats
 * @param dropped what was left out by rule, by its place in the request
 */
public record TranslatedRequest(
    Map<String, @Nullable Object> chat,
    String model,
    boolean stream,
    ToolNames tools,
    Set<String> callIds,
    List<String> stopSequences,
    long inputTokensEstimated,
    Map<String, @Nullable Object> echoed,
    List<String> dropped) {

  public TranslatedRequest {
    callIds = Set.copyOf(callIds);
    stopSequences = List.copyOf(stopSequences);
    echoed = new LinkedHashMap<>(echoed);
    dropped = List.copyOf(dropped);
  }
}
