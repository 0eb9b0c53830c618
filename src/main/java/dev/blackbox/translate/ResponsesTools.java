package dev.blackbox.translate;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tools of one Responses request, as functions of a chat completion. */
final class ResponsesTools {

  /** The one field of a function that stands for a custom tool. */
  static final String CUSTOM_INPUT = "input";

  private final RequestFields fields;
  private final List<String> dropped;
  private final ToolNames.Builder names = new ToolNames.Builder();

  ResponsesTools(RequestFields fields, List<String> dropped) {
    this.fields = fields;
    this.dropped = dropped;
  }

  ToolNames.Builder names() {
    return names;
  }

  void declare(List<Node> tools) throws RequestRefusedException {
    declare(tools, Optional.empty());
  }

  private void declare(List<Node> tools, Optional<String> namespace)
      throws RequestRefusedException {
    for (Node tool : tools) {
      switch (tool.type()) {
        case "function" -> function(nested(tool), namespace);
        case "custom" -> custom(tool, namespace);
        case "namespace" -> {
          if (namespace.isPresent()) {
            throw tool.refused("type", "a namespace cannot stand in a namespace");
          }
          declare(tool.objects("tools"), Optional.of(tool.requiredText("name")));
        }
        // Tools that the service itself would run, or that have no schema to show to a model.
        default -> dropped.add(tool.where() + " (" + tool.type() + ")");
      }
    }
  }

  /** The nested form is that of chat completions, which some clients send here too. */
  private static Node nested(Node tool) throws RequestRefusedException {
    return tool.object("function").orElse(tool);
  }

  private void function(Node tool, Optional<String> namespace) throws RequestRefusedException {
    String name = tool.requiredText("name");
    Optional<Node> parameters = tool.object("parameters");
    add(
        tool,
        new OriginalTool(false, namespace, name),
        tool.text("description").filter(text -> !text.isEmpty()),
        parameters.map(node -> (Object) node.fields()).orElse(null),
        tool.flag("strict"));
  }

  private void custom(Node tool, Optional<String> namespace) throws RequestRefusedException {
    String name = tool.requiredText("name");
    Map<String, @Nullable Object> input = new LinkedHashMap<>();
    input.put("type", "string");
    Optional<Node> format = tool.object("format");
    if (format.isPresent() && format.get().type().equals("grammar")) {
      // An engine cannot hold the model to the grammar; it can only be told of it.
      input.put(
          "description",
          "Text in this "
              + format.get().text("syntax").orElse("")
              + " grammar:\n"
              + format.get().text("definition").orElse(""));
    }
    Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
    parameters.put("type", "object");
    parameters.put("properties", Map.of(CUSTOM_INPUT, input));
    parameters.put("required", List.of(CUSTOM_INPUT));
    add(
        tool,
        new OriginalTool(true, namespace, name),
        tool.text("description").filter(text -> !text.isEmpty()),
        parameters,
        false);
  }

  private void add(
      Node tool,
      OriginalTool original,
      Optional<String> description,
      @Nullable Object parameters,
      boolean strict)
      throws RequestRefusedException {
    if (!fields.function(names.register(original), description, parameters, strict)) {
      throw tool.refused("name", "another tool has this name");
    }
  }

  /** The choice in the words of chat completions, or null. */
  @Nullable Object choice(Node request) throws RequestRefusedException {
    Object given = request.get("tool_choice");
    if (given == null) {
      return null;
    }
    if (given instanceof String word) {
      if (!Set.of("auto", "none", "required").contains(word)) {
        throw request.refused("tool_choice", "must be auto, none, required or an object");
      }
      return word;
    }
    Node choice = request.object("tool_choice").orElseThrow();
    return switch (choice.type()) {
      case "function", "custom" -> RequestFields.choiceOf(chosen(choice));
      case "allowed_tools" -> {
        Set<String> allowed = new HashSet<>();
        for (Node tool : choice.objects("tools")) {
          allowed.add(chosen(tool));
        }
        fields.keepTools(allowed);
        yield choice.text("mode").orElse("auto");
      }
      default -> throw choice.refused("type", "the engine has no such tool of its own");
    };
  }

  private String chosen(Node choice) throws RequestRefusedException {
    Node named = nested(choice);
    String name =
        names.register(
            new OriginalTool(
                choice.type().equals("custom"),
                named.text("namespace"),
                named.requiredText("name")));
    if (!fields.declares(name)) {
      throw named.refused("name", "is not among the tools");
    }
    return name;
  }
}
