package dev.blackbox.turn;

/**
 * What an agent did in a turn, finished or not.
 *
 * @param outputsJson a JSON array of messages, exactly as it goes out to callers; the final answer
 *     is last
 * @param traceJson a JSON array of trace events
 * @param usage tokens and steps
 * @param backendSessionId the agent's own name of the conversation, empty if it never had one
 */
public record Work(String outputsJson, String traceJson, Usage usage, String backendSessionId) {

  public static final Work NONE = new Work("[]", "[]", Usage.NONE, "");
}
