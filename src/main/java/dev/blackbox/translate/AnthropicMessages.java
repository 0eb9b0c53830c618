package dev.blackbox.translate;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads the messages of an Anthropic request into chat messages. */
final class AnthropicMessages {

  private static final Set<String> IMAGE_TYPES =
      Set.of("image/jpeg", "image/png", "image/gif", "image/webp");

  private final ChatMessages messages;
  private final ToolNames.Builder names;
  private final List<String> dropped = new ArrayList<>();

  AnthropicMessages(ChatMessages messages, ToolNames.Builder names) {
    this.messages = messages;
    this.names = names;
  }

  List<String> dropped() {
    return dropped;
  }

  void read(Node message) throws RequestRefusedException {
    String role = message.requiredText("role");
    switch (role) {
      case "user" -> user(message);
      case "assistant" -> assistant(message);
      case "system" -> messages.system(AnthropicRequests.systemText(message, "content", dropped));
      default -> throw message.refused("role", "must be user, assistant or system");
    }
  }

  private void assistant(Node message) throws RequestRefusedException {
    ContentParts content = new ContentParts();
    List<String> reasoning = new ArrayList<>();
    List<Node> calls = new ArrayList<>();
    if (message.get("content") instanceof String text) {
      content.text(text);
    } else {
      for (Node block : blocks(message)) {
        switch (block.type()) {
          case "text" -> content.text(block.text("text").orElse(""));
          case "thinking" ->
              block.text("thinking").filter(text -> !text.isEmpty()).ifPresent(reasoning::add);
          case "redacted_thinking" -> dropped.add(block.where() + " (redacted_thinking)");
          case "tool_use" -> calls.add(block);
          default -> throw notIn(block, "an assistant message");
        }
      }
    }
    messages.assistant(content, String.join("\n", reasoning), "");
    for (Node call : calls) {
      call(call);
    }
    messages.closeAssistant();
  }

  private void call(Node block) throws RequestRefusedException {
    String name = names.registerCall(block.requiredText("name"), Optional.empty(), false);
    Object input = block.object("input").map(node -> (Object) node.fields()).orElse(null);
    if (!messages.call(block.text("id").orElse(""), name, AnthropicRequests.argumentsOf(input))) {
      throw block.refused("id", "another tool_use of the conversation has this id");
    }
  }

  /** Results go before all else, since chat completions want them right behind their calls. */
  private void user(Node message) throws RequestRefusedException {
    ContentParts content = new ContentParts();
    if (message.get("content") instanceof String text) {
      content.text(text);
      messages.user(content);
      return;
    }
    for (Node block : blocks(message)) {
      if (block.type().equals("tool_result")) {
        result(block);
      } else {
        part(block, content, "a user message");
      }
    }
    messages.user(content);
  }

  private static List<Node> blocks(Node message) throws RequestRefusedException {
    if (!message.has("content")) {
      throw message.refused("content", "is missing");
    }
    return message.objects("content");
  }

  private void result(Node block) throws RequestRefusedException {
    ContentParts content = new ContentParts();
    if (block.get("content") instanceof String text) {
      content.text(text);
    } else {
      for (Node part : block.objects("content")) {
        part(part, content, "a tool result");
      }
    }
    if (block.flag("is_error")) {
      content.mark(ChatMessages.FAILED_TOOL);
    }
    if (!messages.result(block.text("tool_use_id").orElse(""), content.content())) {
      throw block.refused("tool_use_id", "is missing, and no tool_use waits for a result");
    }
  }

  private void part(Node block, ContentParts content, String place) throws RequestRefusedException {
    switch (block.type()) {
      case "text" -> content.text(block.text("text").orElse(""));
      case "image" -> image(block, content);
      case "document" -> document(block, content);
      // Names a deferred tool, all of which are declared to the engine in full.
      case "tool_reference" -> content.text(block.text("tool_name").orElse(""));
      default -> throw notIn(block, place);
    }
  }

  private static void image(Node block, ContentParts content) throws RequestRefusedException {
    Node source = source(block);
    switch (source.type()) {
      case "url" -> content.image(source.requiredText("url"), Optional.empty());
      case "base64" -> {
        String type = source.requiredText("media_type");
        if (!IMAGE_TYPES.contains(type)) {
          throw source.refused(
              "media_type", "must be one of " + IMAGE_TYPES.stream().sorted().toList());
        }
        content.image("data:" + type + ";base64," + source.requiredText("data"), Optional.empty());
      }
      default -> throw source.refused("type", "an image must be base64 or url");
    }
  }

  /**
   * Plain text is text, with the title and the context that a model would be shown before it; what
   * an engine would have to open is refused.
   */
  private void document(Node block, ContentParts content) throws RequestRefusedException {
    Node source = source(block);
    content.text(block.text("title").orElse(""));
    content.text(block.text("context").orElse(""));
    switch (source.type()) {
      case "text" -> content.text(source.text("data").orElse(""));
      case "content" -> {
        if (source.get("content") instanceof String text) {
          content.text(text);
        } else {
          for (Node part : source.objects("content")) {
            part(part, content, "a document");
          }
        }
      }
      default -> throw source.refused("type", "the engine cannot open documents; send their text");
    }
  }

  private static Node source(Node block) throws RequestRefusedException {
    return block.object("source").orElseThrow(() -> block.refused("source", "is missing"));
  }

  private static RequestRefusedException notIn(Node block, String place) {
    return block.refused(
        "type", "a block of this type cannot be translated in " + place + ", or is unknown");
  }
}
