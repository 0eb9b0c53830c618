package dev.blackbox.agent.claude;

import dev.blackbox.agent.CliOutputs;
import dev.blackbox.agent.CliOutputs.Step;
import dev.blackbox.agent.SpacedJson;
import dev.blackbox.agent.Texts;
import dev.blackbox.turn.Usage;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The conversation in Claude Code's events. It prints an event per content block; those of one
 * model message share its id and become one message. Messages of its helpers (sub-agents) carry
 * {@code subagent:<id of the tool call>} as their name.
 */
final class ClaudeTranscript {

  /** The model of messages that Claude Code makes up itself, to tell of failed calls. */
  private static final String MADE_UP = "<synthetic>";

  private final CliOutputs outputs = new CliOutputs();
  private final Map<String, Step> byMessage = new HashMap<>();
  private final Map<Step, Map<?, ?>> usages = new HashMap<>();
  private @Nullable String answer;
  private Usage reported = Usage.NONE;
  private long turns;
  private int callsWithoutId;

  void assistant(Map<?, ?> event) {
    if (!(event.get("message") instanceof Map<?, ?> message)
        || !"assistant".equals(message.get("role"))
        || MADE_UP.equals(message.get("model"))) {
      return;
    }
    Step step = step(event, message);
    if (message.get("content") instanceof String text && !text.isEmpty()) {
      step.text(text);
    } else if (message.get("content") instanceof List<?> blocks) {
      blocks.forEach(block -> block(step, block));
    }
    Object usage = event.get("usage") instanceof Map<?, ?> ? event.get("usage") : null;
    if (usage == null) {
      usage = message.get("usage");
    }
    if (usage instanceof Map<?, ?> tokens) {
      usages.put(step, tokens); // each event of a message repeats the same numbers
    }
  }

  private Step step(Map<?, ?> event, Map<?, ?> message) {
    String parent = event.get("parent_tool_use_id") instanceof String id ? id : "";
    String name = parent.isEmpty() ? null : "subagent:" + parent;
    return message.get("id") instanceof String id
        ? byMessage.computeIfAbsent(parent + " " + id, _ -> outputs.begin(name))
        : outputs.begin(name);
  }

  private void block(Step step, Object entry) {
    if (!(entry instanceof Map<?, ?> block)) {
      return;
    }
    switch (String.valueOf(block.get("type"))) {
      case "text" -> {
        if (block.get("text") instanceof String text) {
          step.text(text);
        }
      }
      case "thinking", "redacted_thinking" ->
          Texts.first(block, "thinking", "text", "data")
              .ifPresent(thought -> step.reasoning(String.valueOf(thought)));
      case "tool_use" -> {
        String id =
            Texts.first(block, "id").map(String::valueOf).orElse("call_" + callsWithoutId++);
        String tool = Texts.first(block, "name", "tool").map(String::valueOf).orElse("tool");
        Object input = block.get("input") == null ? Map.of() : block.get("input");
        step.call(id, tool, input instanceof String text ? text : SpacedJson.of(input));
      }
      default -> {
        // other blocks are no part of a conversation
      }
    }
  }

  /** Results of tools; whatever else Claude Code tells its model in a user's name is left out. */
  void user(Map<?, ?> event) {
    if (event.get("message") instanceof Map<?, ?> message
        && message.get("content") instanceof List<?> blocks) {
      for (Object entry : blocks) {
        if (entry instanceof Map<?, ?> block
            && "tool_result".equals(block.get("type"))
            && block.get("tool_use_id") instanceof String id) {
          outputs.result(id, content(block.get("content")));
        }
      }
    }
  }

  private static String content(@Nullable Object content) {
    if (content == null || content instanceof String) {
      return content == null ? "" : (String) content;
    }
    if (!(content instanceof List<?> blocks)) {
      return SpacedJson.of(content);
    }
    List<String> parts = new ArrayList<>();
    for (Object entry : blocks) {
      parts.add(
          entry instanceof Map<?, ?> block && block.get("text") instanceof String text
              ? text
              : SpacedJson.of(entry));
    }
    return String.join("\n", parts);
  }

  void result(Map<?, ?> event) {
    if (event.get("result") instanceof String text && !Texts.isSomething(event.get("is_error"))) {
      answer = text;
    }
    turns = Math.max(turns, Texts.count(event, "num_turns"));
    if (event.get("usage") instanceof Map<?, ?> tokens) {
      Usage usage = usage(tokens);
      reported = usage.totalTokens() >= reported.totalTokens() ? usage : reported;
    }
  }

  boolean hasMessages() {
    return !messages().isEmpty();
  }

  String json() {
    return Json.write(messages());
  }

  /** The final answer is last, also where the messages did not have it. */
  private List<Message> messages() {
    List<Message> messages = outputs.messages();
    String text = answer;
    boolean said =
        Optional.ofNullable(messages.isEmpty() ? null : messages.getLast())
            .filter(last -> last.role().equals("assistant"))
            .map(Message::content)
            .filter(content -> text != null && content.endsWith(text))
            .isPresent();
    if (text != null && !said && (messages.isEmpty() || !text.isBlank())) {
      messages.add(Message.assistant(text, null, null));
    }
    return messages;
  }

  /** The program's own sum if it has one, else the sum over the messages. */
  Usage usage() {
    Usage sum = reported;
    if (sum.totalTokens() == 0) {
      for (Map<?, ?> tokens : usages.values()) {
        Usage one = usage(tokens);
        sum =
            new Usage(
                sum.totalTokens() + one.totalTokens(),
                sum.inputTokens() + one.inputTokens(),
                sum.outputTokens() + one.outputTokens(),
                sum.reasoningTokens() + one.reasoningTokens(),
                0,
                0);
      }
    }
    return new Usage(
        sum.totalTokens(),
        sum.inputTokens(),
        sum.outputTokens(),
        sum.reasoningTokens(),
        Math.max(outputs.steps(), turns),
        outputs.calls());
  }

  private static Usage usage(Map<?, ?> tokens) {
    long input =
        Texts.count(tokens, "input_tokens")
            + Texts.count(tokens, "cache_read_input_tokens")
            + Texts.count(tokens, "cache_creation_input_tokens");
    long output = Texts.count(tokens, "output_tokens");
    long thinking =
        tokens.get("output_tokens_details") instanceof Map<?, ?> details
            ? Texts.count(details, "thinking_tokens")
            : 0;
    return new Usage(input + output, input, output, thinking, 0, 0);
  }
}
