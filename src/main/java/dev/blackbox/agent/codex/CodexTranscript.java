package dev.blackbox.agent.codex;

import dev.blackbox.agent.CliOutputs;
import dev.blackbox.agent.CliOutputs.Step;
import dev.blackbox.agent.SpacedJson;
import dev.blackbox.agent.Texts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The conversation in Codex's items. Items do not say which model call they come from: a new step
 * begins with a text after tool calls, and with a tool call after all earlier ones have ended.
 */
final class CodexTranscript {

  private static final Set<String> TOOLS =
      Set.of(
          "command_execution",
          "mcp_tool_call",
          "tool_call",
          "web_search",
          "file_change",
          "collab_tool_call");

  /** What an item says about itself and its end, as opposed to what was asked for. */
  private static final Set<String> NO_ARGUMENTS =
      Set.of(
          "id",
          "type",
          "status",
          "tool",
          "name",
          "server",
          "result",
          "output",
          "error",
          "exit_code",
          "aggregated_output",
          "agents_states");

  private final CliOutputs outputs = new CliOutputs();
  private boolean hasAnswer;
  private int itemsWithoutId;

  void item(Map<?, ?> item, boolean isCompleted) {
    String type = String.valueOf(item.get("type"));
    if (TOOLS.contains(type)) {
      tool(type, item, isCompleted);
    } else if (isCompleted && type.equals("agent_message") && item.get("text") != null) {
      hasAnswer = true;
      textStep().text(flat(item.get("text")));
    } else if (isCompleted && type.equals("reasoning")) {
      Texts.first(item, "text", "summary", "content", "message")
          .ifPresent(thought -> textStep().reasoning(flat(thought)));
    }
  }

  boolean hasAnswer() {
    return hasAnswer;
  }

  int steps() {
    return outputs.steps();
  }

  int calls() {
    return outputs.calls();
  }

  String json() {
    return outputs.json();
  }

  private Step textStep() {
    return outputs.last().filter(step -> !step.hasCalls()).orElseGet(() -> outputs.begin(null));
  }

  private void tool(String type, Map<?, ?> item, boolean isCompleted) {
    String id =
        item.get("id") instanceof String given && !given.isEmpty()
            ? given
            : "call_" + itemsWithoutId++;
    if (!outputs.knows(id)) {
      outputs
          .last()
          .filter(step -> !step.hasCalls() || step.hasOpenCalls())
          .orElseGet(() -> outputs.begin(null))
          .call(id, name(type, item), SpacedJson.of(arguments(item)));
    }
    if (isCompleted) {
      outputs.result(id, result(item));
    }
  }

  private static String name(String type, Map<?, ?> item) {
    String tool = Texts.first(item, "tool", "name").map(String::valueOf).orElse(type);
    return item.get("server") instanceof String server && !server.isEmpty()
        ? server + "__" + tool
        : tool;
  }

  private static Map<String, @Nullable Object> arguments(Map<?, ?> item) {
    Map<String, @Nullable Object> arguments = new LinkedHashMap<>();
    item.forEach(
        (key, value) -> {
          String name = String.valueOf(key);
          if (!NO_ARGUMENTS.contains(name)) {
            arguments.put(name, value);
          }
        });
    if (arguments.size() == 1 && arguments.get("arguments") instanceof Map<?, ?> given) {
      arguments.clear();
      given.forEach((key, value) -> arguments.put(String.valueOf(key), value));
    }
    return arguments;
  }

  /** The output, and how it ended if it ended badly. */
  private static String result(Map<?, ?> item) {
    String output =
        Texts.first(item, "aggregated_output", "result", "output", "error")
            .map(CodexTranscript::flat)
            .orElse("");
    if (Texts.count(item, "exit_code") == 0 && !"failed".equals(item.get("status"))) {
      return output;
    }
    String end =
        item.get("exit_code") instanceof Number code ? "exit code " + code : "status failed";
    return output.isEmpty() || output.endsWith("\n")
        ? output + "[" + end + "]"
        : output + "\n[" + end + "]";
  }

  /** Text as it is; parts that carry text, line by line; anything else as JSON. */
  private static String flat(@Nullable Object value) {
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof Map<?, ?> part && part.get("text") instanceof String text) {
      return text;
    }
    if (value instanceof Map<?, ?> wrapped && wrapped.get("content") instanceof List<?> parts) {
      return flat(parts);
    }
    if (value instanceof List<?> parts) {
      List<String> lines = new ArrayList<>();
      parts.forEach(part -> lines.add(flat(part)));
      return String.join("\n", lines);
    }
    return SpacedJson.of(value);
  }
}
