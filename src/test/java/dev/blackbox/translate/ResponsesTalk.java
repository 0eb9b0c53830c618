package dev.blackbox.translate;

import static dev.blackbox.translate.RandomTalk.object;

import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** As {@link AnthropicTalk}, of the OpenAI Responses API. */
final class ResponsesTalk {

  private static final String NAMESPACE = "agents.of mine";
  private static final List<String> FUNCTIONS =
      List.of("f", "read_file", "mcp.server.tool", "x".repeat(70), "naïve tool");
  private static final List<String> NAMESPACED = List.of("spawn", "f");
  private static final List<String> CUSTOM = List.of("apply_patch", "r".repeat(80));

  private final RandomTalk random;
  private final boolean ids;
  private final List<Object> items = new ArrayList<>();

  private ResponsesTalk(RandomTalk random) {
    this.random = random;
    this.ids = !random.once(6);
  }

  /** A request that uses all that a conversation may have. */
  static Map<String, @Nullable Object> random(RandomTalk random) {
    ResponsesTalk talk = new ResponsesTalk(random);
    for (int turns = 1 + random.below(4); turns > 0; turns--) {
      talk.turn();
    }
    Map<String, @Nullable Object> request = object("model", "m");
    if (!random.once(4)) {
      request.put("instructions", random.textOrNothing());
    }
    request.put("input", talk.items);
    request.put("tools", tools());
    return request;
  }

  private static List<Object> tools() {
    List<Object> tools = new ArrayList<>();
    FUNCTIONS.forEach(name -> tools.add(object("type", "function", "name", name)));
    CUSTOM.forEach(name -> tools.add(object("type", "custom", "name", name)));
    List<Object> grouped =
        NAMESPACED.stream().<Object>map(name -> object("type", "function", "name", name)).toList();
    tools.add(object("type", "namespace", "name", NAMESPACE, "tools", grouped));
    return tools;
  }

  private void turn() {
    // Never empty: an empty message parts what the agent said, and leaves nothing to come back.
    List<Object> asked = parts();
    asked.add(object("type", "input_text", "text", random.text()));
    items.add(object("role", "user", "content", random.once(3) ? random.text() : asked));
    if (random.once(6)) {
      items.add(object("type", "message", "role", "developer", "content", random.text()));
    }
    for (int steps = random.below(4); steps > 0; steps--) {
      think();
      if (random.once(2)) {
        message(random.text());
      }
      calls();
    }
    think();
    message(random.textOrNothing());
  }

  private List<Object> parts() {
    List<Object> parts = new ArrayList<>();
    for (int n = random.below(4); n > 0; n--) {
      parts.add(
          switch (random.below(5)) {
            case 0 -> object("type", "input_image", "image_url", random.imageUrl());
            case 1 ->
                object("type", "input_image", "image_url", random.imageUrl(), "detail", "low");
            default -> object("type", "input_text", "text", random.textOrNothing());
          });
    }
    return parts;
  }

  private void think() {
    for (int n = random.below(3); n > 0; n--) {
      boolean summary = random.once(2);
      List<Object> texts = List.of(object("type", "text", "text", random.textOrNothing()));
      items.add(
          object(
              "type",
              "reasoning",
              "summary",
              summary ? texts : List.of(),
              "content",
              summary ? null : texts,
              "encrypted_content",
              "sealed"));
    }
  }

  private void message(String text) {
    List<Object> parts = new ArrayList<>();
    parts.add(object("type", "output_text", "text", text));
    if (random.once(8)) {
      parts.add(object("type", "refusal", "refusal", random.text()));
    }
    items.add(object("type", "message", "role", "assistant", "content", parts));
  }

  private void calls() {
    List<Map<String, @Nullable Object>> outputs = new ArrayList<>();
    for (int n = 1 + random.below(3); n > 0; n--) {
      boolean custom = random.once(4);
      String id = "call-" + random.next();
      Map<String, @Nullable Object> call =
          object("type", custom ? "custom_tool_call" : "function_call");
      Map<String, @Nullable Object> output =
          object("type", custom ? "custom_tool_call_output" : "function_call_output");
      if (ids) {
        call.put("call_id", id);
        output.put("call_id", id);
      }
      if (!custom && random.once(4)) {
        call.put("namespace", NAMESPACE);
        call.put("name", random.one(NAMESPACED));
      } else {
        call.put("name", random.one(custom ? CUSTOM : FUNCTIONS));
      }
      if (custom) {
        call.put("input", random.textOrNothing());
      } else {
        // As an engine may have written it: agents keep it as it is.
        call.put("arguments", (random.once(3) ? " " : "") + Json.write(random.arguments()));
      }
      items.add(call);
      if (random.once(8)) {
        items.add(object("type", "web_search_call", "id", "w"));
      }
      output.put("output", random.once(3) ? parts() : random.textOrNothing());
      outputs.add(ids ? random.below(outputs.size() + 1) : outputs.size(), output);
    }
    items.addAll(outputs);
  }

  /** What is said in a request. */
  static List<String> said(Map<String, @Nullable Object> request) {
    return new Said().read(request);
  }

  /** The rules of docs/dialects.md, read once more. */
  private static final class Said {
    private final List<String> pieces = new ArrayList<>();
    private final List<String> system = new ArrayList<>();
    private final List<String> thought = new ArrayList<>();
    private final Map<String, Integer> numbers = new LinkedHashMap<>();
    private final Deque<Integer> open = new ArrayDeque<>();
    private int calls;

    private List<String> read(Map<String, @Nullable Object> request) {
      system.add(Objects.requireNonNullElse(request.get("instructions"), "").toString());
      Corpus.list(request.get("input")).forEach(item -> item(Corpus.object(item)));
      system.removeIf(String::isEmpty);
      pieces.addFirst("system: " + String.join("\n\n", system));
      return pieces;
    }

    private void item(Map<String, @Nullable Object> item) {
      switch (String.valueOf(item.getOrDefault("type", "message"))) {
        case "message" -> message(item);
        case "reasoning" -> {
          List<String> texts = new ArrayList<>();
          for (String key : List.of("summary", "content")) {
            Corpus.list(item.get(key))
                .forEach(part -> texts.add(String.valueOf(Corpus.object(part).get("text"))));
          }
          texts.removeIf(String::isEmpty);
          thought.addAll(texts);
        }
        case "function_call", "custom_tool_call" -> {
          thoughts();
          int number = calls++;
          numbers.put(String.valueOf(item.get("call_id")), number);
          open.add(number);
          pieces.add(
              "%d: %s %s.%s %s"
                  .formatted(
                      number,
                      item.get("type"),
                      item.get("namespace"),
                      item.get("name"),
                      item.getOrDefault("arguments", item.get("input"))));
        }
        case "function_call_output", "custom_tool_call_output" -> {
          thought.clear();
          Object id = item.get("call_id");
          Integer number = id == null ? open.peek() : numbers.get(String.valueOf(id));
          open.remove(number);
          pieces.add("output of " + number + ": " + parts(item.get("output")));
        }
        default -> {}
      }
    }

    private void message(Map<String, @Nullable Object> item) {
      String role = String.valueOf(item.get("role"));
      if (role.equals("assistant")) {
        thoughts();
      } else {
        thought.clear();
      }
      if (role.equals("developer")) {
        system.add(String.valueOf(item.get("content")));
        return;
      }
      String parts = parts(item.get("content"));
      if (!parts.equals("[]")) {
        pieces.add(role + ": " + parts);
      }
      for (Object one : Corpus.list(item.get("content"))) {
        if (Corpus.object(one).get("refusal") instanceof String refusal) {
          pieces.add("refusal: " + refusal);
        }
      }
    }

    private void thoughts() {
      if (!thought.isEmpty()) {
        pieces.add("thinking: " + String.join("\n", thought));
        thought.clear();
      }
    }

    /** Texts next to one another are one text if there is no image among them. */
    private static String parts(@Nullable Object content) {
      List<String> parts = new ArrayList<>();
      boolean images = false;
      if (content instanceof String text) {
        parts.add(text);
      }
      for (Object one : Corpus.list(content)) {
        Map<String, @Nullable Object> part = Corpus.object(one);
        if (part.containsKey("image_url")) {
          images = true;
          parts.add(part.get("image_url") + " " + part.get("detail"));
        } else {
          parts.add(String.valueOf(part.getOrDefault("text", "")));
        }
      }
      parts.removeIf(String::isEmpty);
      return images || parts.isEmpty() ? parts.toString() : "[" + String.join("\n", parts) + "]";
    }
  }

  /** A chat completion request as one of this dialect. */
  static Map<String, @Nullable Object> back(TranslatedRequest translated, @Nullable Object tools)
      throws MalformedJsonException {
    Map<String, @Nullable Object> request = object("model", translated.model(), "tools", tools);
    List<Object> items = new ArrayList<>();
    Map<String, OriginalTool> called = new LinkedHashMap<>();
    for (Object one : Corpus.list(translated.chat().get("messages"))) {
      Map<String, @Nullable Object> message = Corpus.object(one);
      switch (String.valueOf(message.get("role"))) {
        case "system" -> request.put("instructions", message.get("content"));
        case "user" ->
            items.add(
                object("role", "user", "content", parts(message.get("content"), "input_text")));
        case "tool" -> {
          OriginalTool tool =
              Objects.requireNonNull(called.get(String.valueOf(message.get("tool_call_id"))));
          items.add(
              object(
                  "type",
                  tool.custom() ? "custom_tool_call_output" : "function_call_output",
                  "call_id",
                  message.get("tool_call_id"),
                  "output",
                  parts(message.get("content"), "input_text")));
        }
        default -> assistant(message, translated.tools(), called, items);
      }
    }
    request.put("input", items);
    return request;
  }

  private static void assistant(
      Map<String, @Nullable Object> message,
      ToolNames names,
      Map<String, OriginalTool> called,
      List<Object> items)
      throws MalformedJsonException {
    if (message.get("reasoning_content") instanceof String thinking) {
      items.add(
          object(
              "type",
              "reasoning",
              "summary",
              List.of(object("type", "summary_text", "text", thinking))));
    }
    List<Object> content = new ArrayList<>(parts(message.get("content"), "output_text"));
    if (message.get("refusal") instanceof String refusal) {
      content.add(object("type", "refusal", "refusal", refusal));
    }
    List<?> calls = Corpus.list(message.get("tool_calls"));
    if (!content.isEmpty() || calls.isEmpty()) {
      items.add(object("type", "message", "role", "assistant", "content", content));
    }
    for (Object one : calls) {
      Map<String, @Nullable Object> call = Corpus.object(one);
      Map<String, @Nullable Object> function = Corpus.object(call.get("function"));
      OriginalTool tool = names.original(String.valueOf(function.get("name")));
      called.put(String.valueOf(call.get("id")), tool);
      String arguments = String.valueOf(function.get("arguments"));
      Map<String, @Nullable Object> item =
          object(
              "type",
              tool.custom() ? "custom_tool_call" : "function_call",
              "call_id",
              call.get("id"),
              "name",
              tool.name());
      tool.namespace().ifPresent(namespace -> item.put("namespace", namespace));
      item.put(
          tool.custom() ? "input" : "arguments",
          tool.custom() ? Corpus.object(Json.parse(arguments)).get("input") : arguments);
      items.add(item);
    }
  }

  private static List<Object> parts(@Nullable Object content, String textType) {
    if (content instanceof String text) {
      return text.isEmpty() ? List.of() : List.of(object("type", textType, "text", text));
    }
    List<Object> parts = new ArrayList<>();
    for (Object one : Corpus.list(content)) {
      Map<String, @Nullable Object> part = Corpus.object(one);
      Map<String, @Nullable Object> image = Corpus.object(part.get("image_url"));
      parts.add(
          image.isEmpty()
              ? object("type", textType, "text", part.get("text"))
              : object(
                  "type",
                  "input_image",
                  "image_url",
                  image.get("url"),
                  "detail",
                  image.get("detail")));
    }
    return parts;
  }
}
