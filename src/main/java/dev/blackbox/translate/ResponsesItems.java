package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Reads the input items of a Responses request into chat messages. Items that belong together
 * become one message, by the reference server's rules: an assistant's message and the calls that
 * follow it; calls in a row. Reasoning waits for the assistant's next message or call, and is
 * forgotten when anything else comes first.
 */
final class ResponsesItems {

  /** What a service did by itself; its outcome is in the message that follows. */
  private static final Set<String> SERVER_RECORDS =
      Set.of(
          "web_search_call",
          "file_search_call",
          "image_generation_call",
          "code_interpreter_call",
          "mcp_list_tools",
          "tool_search_call",
          "tool_search_output");

  private final ChatMessages messages;
  private final ResponsesTools tools;
  private final List<String> dropped;
  private final List<String> reasoning = new ArrayList<>();

  ResponsesItems(ChatMessages messages, ResponsesTools tools, List<String> dropped) {
    this.messages = messages;
    this.tools = tools;
    this.dropped = dropped;
  }

  void read(Node item) throws RequestRefusedException {
    String type = item.type().isEmpty() && item.has("role") ? "message" : item.type();
    switch (type) {
      case "message" -> message(item);
      case "reasoning" -> {
        List<String> texts = reasoningOf(item);
        // Sealed reasoning says nothing to an engine, and parts nothing.
        if (!texts.isEmpty()) {
          messages.closeAssistant();
          reasoning.addAll(texts);
        }
      }
      case "function_call" -> call(item, false, item.text("arguments").orElse(""));
      case "custom_tool_call" ->
          call(
              item,
              true,
              Json.write(Map.of(ResponsesTools.CUSTOM_INPUT, item.text("input").orElse(""))));
      case "function_call_output", "custom_tool_call_output" -> output(item);
      case "additional_tools" -> tools.declare(item.objects("tools"));
      default -> {
        if (!SERVER_RECORDS.contains(type)) {
          throw item.refused("type", "an item of this type cannot be translated, or is unknown");
        }
        dropped.add(item.where() + " (" + type + ")");
      }
    }
  }

  /** Reasoning at the very end belongs to an answer that was never given. */
  void end() {
    forgetReasoning();
  }

  private void message(Node item) throws RequestRefusedException {
    String role = item.requiredText("role").toLowerCase(Locale.ROOT);
    switch (role) {
      case "developer", "system" -> {
        forgetReasoning();
        messages.system(content(item, "content").joined());
      }
      case "user" -> {
        forgetReasoning();
        messages.user(content(item, "content"));
      }
      case "assistant" -> assistant(item);
      default -> throw item.refused("role", "must be user, assistant, developer or system");
    }
  }

  private void assistant(Node item) throws RequestRefusedException {
    List<String> refusals = new ArrayList<>();
    ContentParts content = new ContentParts();
    if (item.get("content") instanceof String text) {
      content.text(text);
    } else {
      for (Node part : item.objects("content")) {
        if (part.type().equals("refusal")) {
          refusals.add(part.text("refusal").orElse(""));
        } else {
          part(part, content);
        }
      }
    }
    messages.assistant(content, takeReasoning(), String.join("\n", refusals));
  }

  private void call(Node item, boolean custom, String arguments) throws RequestRefusedException {
    if (!messages.assistantIsOpen()) {
      String before = takeReasoning();
      messages.assistant(new ContentParts(), before, "");
    }
    String name =
        tools.names().registerCall(item.requiredText("name"), item.text("namespace"), custom);
    String callId = item.text("call_id").orElse("");
    String id = callId.isEmpty() ? item.text("id").orElse("") : callId;
    if (!messages.call(id, name, arguments.isBlank() ? "{}" : arguments)) {
      throw item.refused("call_id", "another call of the conversation has this id");
    }
  }

  private void output(Node item) throws RequestRefusedException {
    forgetReasoning();
    // Not its own id: that is no call's.
    String callId = item.text("call_id").orElse("");
    if (!messages.result(callId, content(item, "output").content())) {
      throw item.refused("call_id", "is missing, and no call waits for an output");
    }
  }

  private ContentParts content(Node item, String key) throws RequestRefusedException {
    ContentParts content = new ContentParts();
    if (item.get(key) instanceof String text) {
      content.text(text);
    } else {
      for (Node part : item.objects(key)) {
        part(part, content);
      }
    }
    return content;
  }

  private static void part(Node part, ContentParts content) throws RequestRefusedException {
    switch (part.type()) {
      case "input_text", "output_text", "text" -> content.text(part.text("text").orElse(""));
      case "input_image" -> {
        if (!part.has("image_url")) {
          throw part.refused("image_url", "is missing; the engine cannot open stored files");
        }
        content.image(part.requiredText("image_url"), part.text("detail"));
      }
      default ->
          throw part.refused("type", "a part of this type cannot be translated, or is unknown");
    }
  }

  private static List<String> reasoningOf(Node item) throws RequestRefusedException {
    List<String> texts = new ArrayList<>();
    for (String key : List.of("summary", "content")) {
      for (Node part : item.objects(key)) {
        part.text("text").filter(text -> !text.isEmpty()).ifPresent(texts::add);
      }
      if (!texts.isEmpty()) {
        return texts;
      }
    }
    return texts;
  }

  private String takeReasoning() {
    String taken = String.join("\n", reasoning);
    reasoning.clear();
    return taken;
  }

  private void forgetReasoning() {
    messages.closeAssistant();
    reasoning.clear();
  }
}
