package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests of the Anthropic Messages API as chat completion requests; {@code docs/dialects.md} has
 * every row. Source of the shapes: Anthropic API reference, "Messages", version 2023-06-01.
 */
public final class AnthropicRequests {

  /**
   * A line that Claude Code puts before the system prompt since 2.1.36. It changes with every
   * request, so that no engine could use its prefix again.
   */
  private static final String BILLING_LINE = "x-anthropic-billing-header:";

  /** Thinking budgets from which an effort counts as such; three points of it are agreed on. */
  private static final long HIGH_BUDGET_TOKENS = 10_000;

  private static final long MEDIUM_BUDGET_TOKENS = 5_000;

  private static final Set<String> KNOWN_FIELDS =
      Set.of(
          "model",
          "messages",
          "system",
          "max_tokens",
          "temperature",
          "top_p",
          "top_k",
          "stop_sequences",
          "stream",
          "metadata",
          "thinking",
          "tools",
          "tool_choice",
          "output_config",
          "mcp_servers",
          "container");

  private final Node request;
  private final TranslationOptions options;
  private final Map<String, @Nullable Object> chat = new LinkedHashMap<>();
  private final RequestFields fields;
  private final ChatMessages messages;
  private final ToolNames.Builder names = new ToolNames.Builder();
  private final List<String> dropped = new ArrayList<>();

  private AnthropicRequests(Node request, TranslationOptions options) {
    this.request = request;
    this.options = options;
    this.fields = new RequestFields(options, chat);
    this.messages = new ChatMessages(options);
  }

  /**
   * Translates a request.
   *
   * @param tree the parsed body
   * @throws RequestRefusedException if it is no Messages request, or cannot be mapped
   */
  public static TranslatedRequest toChat(@Nullable Object tree, TranslationOptions options)
      throws RequestRefusedException {
    return new AnthropicRequests(Node.root(tree), options).translated();
  }

  private TranslatedRequest translated() throws RequestRefusedException {
    String model = request.requiredText("model");
    boolean stream = request.flag("stream");
    chat.put("model", model);
    refuseServerFeatures();
    readSystem();
    AnthropicMessages reader = new AnthropicMessages(messages, names);
    for (Node message : required("messages")) {
      reader.read(message);
    }
    dropped.addAll(reader.dropped());
    chat.put("messages", messages.all());
    fields.stream(stream);
    fields.maxTokens(request.count("max_tokens", 1));
    fields.number(request, "temperature");
    fields.number(request, "top_p");
    if (options.topK()) {
      fields.number(request, "top_k");
    }
    List<String> stops = request.texts("stop_sequences");
    if (!stops.isEmpty()) {
      chat.put("stop", stops);
    }
    Optional<Node> metadata = request.object("metadata");
    if (metadata.isPresent()) {
      metadata.get().text("user_id").ifPresent(user -> chat.put("user", user));
    }
    readThinking();
    readTools();
    noteUnknownFields();
    return new TranslatedRequest(
        chat,
        model,
        stream,
        names.build(),
        messages.callIds(),
        stops,
        AnthropicTokens.estimate(request.fields()),
        Map.of(),
        dropped);
  }

  private List<Node> required(String key) throws RequestRefusedException {
    if (!request.has(key)) {
      throw request.refused(key, "is missing");
    }
    return request.objects(key);
  }

  private void refuseServerFeatures() throws RequestRefusedException {
    if (!request.objects("mcp_servers").isEmpty()) {
      throw request.refused("mcp_servers", "the engine cannot reach tool servers itself");
    }
    if (request.has("container")) {
      throw request.refused("container", "the engine has no containers");
    }
  }

  private void readSystem() throws RequestRefusedException {
    if (!request.has("system")) {
      return;
    }
    messages.system(systemText(request, "system", dropped));
  }

  /** System text, which is a string or a list of text blocks, without the billing line. */
  static String systemText(Node holder, String key, List<String> dropped)
      throws RequestRefusedException {
    if (holder.get(key) instanceof String text) {
      if (!text.startsWith(BILLING_LINE)) {
        return text;
      }
      dropped.add(holder.place(key) + " (billing line)");
      int lineEnd = text.indexOf('\n');
      return lineEnd < 0 ? "" : text.substring(lineEnd + 1);
    }
    ContentParts parts = new ContentParts();
    for (Node block : holder.objects(key)) {
      if (!block.type().equals("text")) {
        throw block.refused("type", "system text must be of text blocks");
      }
      String text = block.text("text").orElse("");
      if (text.startsWith(BILLING_LINE)) {
        dropped.add(block.where() + " (billing line)");
      } else {
        parts.text(text);
      }
    }
    return parts.joined();
  }

  private void readThinking() throws RequestRefusedException {
    Optional<Node> thinking = request.object("thinking");
    if (thinking.isPresent() && thinking.get().type().equals("enabled")) {
      long budget = thinking.get().count("budget_tokens", 1).orElse(0);
      fields.effort(
          budget >= HIGH_BUDGET_TOKENS
              ? "high"
              : budget >= MEDIUM_BUDGET_TOKENS ? "medium" : "low");
    }
    Optional<Node> output = request.object("output_config");
    if (output.isEmpty()) {
      return;
    }
    output.get().text("effort").ifPresent(fields::effort);
    Optional<Node> format = output.get().object("format");
    if (format.isPresent()) {
      Optional<Node> schema = format.get().object("schema");
      if (!format.get().type().equals("json_schema") || schema.isEmpty()) {
        throw format.get().refused("type", "only json_schema with a schema is known");
      }
      fields.jsonSchema("answer", schema.get().fields(), true);
    }
  }

  private void readTools() throws RequestRefusedException {
    Set<String> hosted = new HashSet<>();
    for (Node tool : request.objects("tools")) {
      String name = tool.requiredText("name");
      if (!tool.type().isEmpty() && !tool.type().equals("custom")) {
        // A tool of Anthropic's own has no schema that could be shown to a model.
        dropped.add(tool.where() + " (" + tool.type() + ")");
        hosted.add(name);
        continue;
      }
      Optional<Node> schema = tool.object("input_schema");
      boolean added =
          fields.function(
              names.register(OriginalTool.function(name)),
              tool.text("description").filter(text -> !text.isEmpty()),
              schema.map(node -> (Object) node.fields()).orElse(null),
              tool.flag("strict"));
      if (!added) {
        throw tool.refused("name", "another tool has this name");
      }
    }
    readChoice(hosted);
  }

  private void readChoice(Set<String> hosted) throws RequestRefusedException {
    Optional<Node> given = request.object("tool_choice");
    if (given.isEmpty()) {
      fields.tools(null, Optional.empty());
      return;
    }
    Node choice = given.get();
    Optional<Boolean> parallel =
        choice.flag("disable_parallel_tool_use") ? Optional.of(false) : Optional.empty();
    Object chosen =
        switch (choice.type()) {
          case "auto" -> "auto";
          case "none" -> "none";
          case "any" -> "required";
          case "tool" -> {
            String name = choice.requiredText("name");
            if (hosted.contains(name)) {
              throw choice.refused("name", "the engine has no such tool of its own");
            }
            yield RequestFields.choiceOf(names.register(OriginalTool.function(name)));
          }
          default -> throw choice.refused("type", "must be auto, any, tool or none");
        };
    fields.tools(chosen, parallel);
  }

  private void noteUnknownFields() {
    for (Object key : request.fields().keySet()) {
      if (!KNOWN_FIELDS.contains(String.valueOf(key))) {
        dropped.add(String.valueOf(key));
      }
    }
  }

  /** JSON text of a tool's input, compact: how the engine spaced it once is not known here. */
  static String argumentsOf(@Nullable Object input) {
    return input == null ? "{}" : Json.write(input);
  }
}
