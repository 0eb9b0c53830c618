package dev.blackbox.translate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests of the OpenAI Responses API as chat completion requests; {@code docs/dialects.md} has
 * every row. Source of the shapes: OpenAI API reference, "Responses", and what Codex sends.
 */
public final class ResponsesRequests {

  /** They point at something that is stored elsewhere, so that the history would be lost. */
  private static final List<String> STORED_ELSEWHERE =
      List.of("previous_response_id", "conversation", "prompt");

  private static final Set<String> KNOWN_FIELDS =
      Set.of(
          "model",
          "input",
          "instructions",
          "stream",
          "max_output_tokens",
          "temperature",
          "top_p",
          "parallel_tool_calls",
          "tools",
          "tool_choice",
          "reasoning",
          "text",
          "user",
          "background",
          "previous_response_id",
          "conversation",
          "prompt");

  private final Node request;
  private final Map<String, @Nullable Object> chat = new LinkedHashMap<>();
  private final RequestFields fields;
  private final ChatMessages messages;
  private final ResponsesTools tools;
  private final List<String> dropped = new ArrayList<>();

  private ResponsesRequests(Node request, TranslationOptions options) {
    this.request = request;
    this.fields = new RequestFields(options, chat);
    this.messages = new ChatMessages(options);
    this.tools = new ResponsesTools(fields, dropped);
  }

  /**
   * Translates a request.
   *
   * @param tree the parsed body
   * @throws RequestRefusedException if it is no Responses request, or cannot be mapped
   */
  public static TranslatedRequest toChat(@Nullable Object tree, TranslationOptions options)
      throws RequestRefusedException {
    return new ResponsesRequests(Node.root(tree), options).translated();
  }

  private TranslatedRequest translated() throws RequestRefusedException {
    String model = request.requiredText("model");
    boolean stream = request.flag("stream");
    chat.put("model", model);
    refuseStored();
    tools.declare(request.objects("tools"));
    messages.system(request.text("instructions").orElse(""));
    readInput();
    chat.put("messages", messages.all());
    fields.stream(stream);
    fields.maxTokens(request.count("max_output_tokens", 1));
    fields.number(request, "temperature");
    fields.number(request, "top_p");
    request.text("user").ifPresent(user -> chat.put("user", user));
    Optional<Node> reasoning = request.object("reasoning");
    if (reasoning.isPresent()) {
      reasoning.get().text("effort").ifPresent(fields::effort);
    }
    readFormat();
    fields.tools(
        tools.choice(request),
        request.has("parallel_tool_calls")
            ? Optional.of(request.flag("parallel_tool_calls"))
            : Optional.empty());
    noteUnknownFields();
    return new TranslatedRequest(
        chat,
        model,
        stream,
        tools.names().build(),
        messages.callIds(),
        List.of(),
        AnthropicTokens.estimate(request.fields()),
        echoed(),
        dropped);
  }

  private void refuseStored() throws RequestRefusedException {
    for (String key : STORED_ELSEWHERE) {
      if (request.has(key)) {
        throw request.refused(key, "nothing is stored here; send the whole conversation as input");
      }
    }
    if (request.flag("background")) {
      throw request.refused("background", "answers are not made in the background");
    }
  }

  private void readInput() throws RequestRefusedException {
    Object input = request.get("input");
    if (input == null) {
      throw request.refused("input", "is missing");
    }
    if (input instanceof String text) {
      ContentParts content = new ContentParts();
      content.text(text);
      messages.user(content);
      return;
    }
    ResponsesItems items = new ResponsesItems(messages, tools, dropped);
    for (Node item : request.objects("input")) {
      items.read(item);
    }
    items.end();
  }

  private void readFormat() throws RequestRefusedException {
    Optional<Node> text = request.object("text");
    Optional<Node> given = text.isPresent() ? text.get().object("format") : Optional.empty();
    if (given.isEmpty()) {
      return;
    }
    Node format = given.get();
    switch (format.type()) {
      case "text" -> {}
      case "json_object" -> chat.put("response_format", Map.of("type", "json_object"));
      case "json_schema" -> {
        Node schema =
            format.object("schema").orElseThrow(() -> format.refused("schema", "is missing"));
        fields.jsonSchema(
            format.text("name").orElse("answer"), schema.fields(), format.flag("strict"));
      }
      default -> throw format.refused("type", "must be text, json_object or json_schema");
    }
  }

  /** Fields that the SDKs' types demand of a response. */
  private Map<String, @Nullable Object> echoed() {
    Map<String, @Nullable Object> echoed = new LinkedHashMap<>();
    echoed.put("instructions", request.get("instructions"));
    echoed.put("max_output_tokens", request.get("max_output_tokens"));
    echoed.put("metadata", request.has("metadata") ? request.get("metadata") : Map.of());
    boolean parallel = !Boolean.FALSE.equals(request.get("parallel_tool_calls"));
    echoed.put("parallel_tool_calls", parallel);
    echoed.put("temperature", request.get("temperature"));
    echoed.put("tool_choice", request.has("tool_choice") ? request.get("tool_choice") : "auto");
    // Not repeated: a large request would go back three times in each stream.
    echoed.put("tools", List.of());
    echoed.put("top_p", request.get("top_p"));
    return echoed;
  }

  private void noteUnknownFields() {
    for (Object key : request.fields().keySet()) {
      if (!KNOWN_FIELDS.contains(String.valueOf(key))) {
        dropped.add(String.valueOf(key));
      }
    }
  }
}
