package dev.blackbox.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message of a conversation, as the HTTP API shows it. All fields are written, absent ones as
 * null. Source: reference server, "Data handed to and from an adapter".
 *
 * @param role system, user, assistant or tool
 */
public record Message(
    String role,
    @Nullable String content,
    @Nullable String reasoningContent,
    @Nullable List<ToolCall> toolCalls,
    @Nullable String toolCallId,
    @Nullable String name) {

  public static Message user(String content) {
    return new Message("user", content, null, null, null, null);
  }

  public static Message assistant(
      @Nullable String content, @Nullable String reasoning, @Nullable List<ToolCall> toolCalls) {
    return new Message("assistant", content, reasoning, toolCalls, null, null);
  }

  public static Message tool(String toolCallId, @Nullable String name, String content) {
    return new Message("tool", content, null, null, toolCallId, name);
  }

  /**
   * A tool call that the model asked for.
   *
   * @param type always {@code function}
   */
  public record ToolCall(String id, String type, Function function) {

    public static ToolCall function(String id, String name, String arguments) {
      return new ToolCall(id, "function", new Function(name, arguments));
    }
  }

  /**
   * What a tool call calls.
   *
   * @param arguments JSON text, as the model wrote it
   */
  public record Function(String name, String arguments) {}
}
