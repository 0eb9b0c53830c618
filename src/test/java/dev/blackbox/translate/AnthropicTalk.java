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
import org.jspecify.annotations.Nullable;

/**
 * Conversations of the Anthropic API: random ones; what is said in one, piece by piece; and the way
 * back from a chat completion request, which only this test knows.
 */
final class AnthropicTalk {

  private static final List<String> TOOLS =
      List.of("f", "read_file", "mcp.server.tool", "x".repeat(70), "naïve tool");

  private final RandomTalk random;
  private final boolean ids;
  private final List<Object> messages = new ArrayList<>();

  private AnthropicTalk(RandomTalk random) {
    this.random = random;
    this.ids = !random.once(6);
  }

  /** A request that uses all that a conversation may have. */
  static Map<String, @Nullable Object> random(RandomTalk random) {
    AnthropicTalk talk = new AnthropicTalk(random);
    for (int turns = 1 + random.below(4); turns > 0; turns--) {
      talk.turn();
    }
    Map<String, @Nullable Object> request = object("model", "m", "messages", talk.messages);
    if (!random.once(4)) {
      Object text = random.once(2) ? random.text() : List.of(block(random.text()), block(""));
      request.put("system", text);
    }
    return request;
  }

  private void turn() {
    List<Object> content = new ArrayList<>();
    userParts(content, 4);
    messages.add(object("role", "user", "content", random.once(3) ? random.text() : content));
    if (random.once(8)) {
      messages.add(object("role", "system", "content", random.text()));
    }
    for (int steps = random.below(4); steps > 0; steps--) {
      step();
    }
    if (!random.once(6)) {
      messages.add(object("role", "assistant", "content", assistantParts()));
    }
  }

  /** Calls and their results, which may come in another order, and with other blocks between. */
  private void step() {
    List<Object> said = assistantParts();
    List<Object> answered = new ArrayList<>();
    for (int n = 1 + random.below(3); n > 0; n--) {
      String id = "toolu_" + random.next();
      Map<String, @Nullable Object> call = object("type", "tool_use");
      Map<String, @Nullable Object> result = object("type", "tool_result");
      if (ids) {
        call.put("id", id);
        result.put("tool_use_id", id);
      }
      call.put("name", random.one(TOOLS));
      call.put("input", random.arguments());
      said.add(call);
      if (random.once(6)) {
        said.add(block(random.text()));
      }
      fill(result);
      answered.add(ids ? random.below(answered.size() + 1) : answered.size(), result);
      if (random.once(5)) {
        userParts(answered, 1);
      }
    }
    messages.add(object("role", "assistant", "content", said));
    messages.add(object("role", "user", "content", answered));
  }

  private void fill(Map<String, @Nullable Object> result) {
    if (random.once(4)) {
      result.put("is_error", random.once(2));
    }
    switch (random.below(4)) {
      case 0 -> result.put("content", random.textOrNothing());
      case 1 -> {}
      default -> {
        List<Object> parts = new ArrayList<>();
        userParts(parts, 3);
        result.put("content", parts);
      }
    }
  }

  private void userParts(List<Object> content, int most) {
    for (int n = random.below(most + 1); n > 0; n--) {
      content.add(
          switch (random.below(6)) {
            case 0 -> image(random.imageUrl());
            case 1 -> document();
            default -> block(random.textOrNothing());
          });
    }
  }

  private Map<String, @Nullable Object> document() {
    Object source =
        random.once(2)
            ? object("type", "text", "media_type", "text/plain", "data", random.text())
            : object("type", "content", "content", List.of(block(random.text()), block("")));
    Map<String, @Nullable Object> document = object("type", "document", "source", source);
    if (random.once(3)) {
      document.put("title", random.text());
    }
    return document;
  }

  private List<Object> assistantParts() {
    List<Object> parts = new ArrayList<>();
    for (int n = random.below(4); n > 0; n--) {
      parts.add(
          switch (random.below(5)) {
            case 0 ->
                object("type", "thinking", "thinking", random.textOrNothing(), "signature", "s");
            case 1 -> object("type", "redacted_thinking", "data", "sealed");
            default -> block(random.textOrNothing());
          });
    }
    return parts;
  }

  private static Map<String, @Nullable Object> block(String text) {
    return object("type", "text", "text", text);
  }

  private static Map<String, @Nullable Object> image(String url) {
    String[] data = url.split("[:;,]");
    return object(
        "type",
        "image",
        "source",
        url.startsWith("data:")
            ? object("type", "base64", "media_type", data[1], "data", data[3])
            : object("type", "url", "url", url));
  }

  /** What is said in a request, in the order in which chat completions can have it. */
  static List<String> said(Map<String, @Nullable Object> request) {
    return new Said().read(request);
  }

  /** The rules of docs/dialects.md, read once more. */
  private static final class Said {
    private final List<String> pieces = new ArrayList<>();
    private final StringBuilder system = new StringBuilder();
    private final Map<String, Integer> numbers = new LinkedHashMap<>();
    private final Deque<Integer> open = new ArrayDeque<>();
    private int calls;

    private List<String> read(Map<String, @Nullable Object> request) {
      system(request.get("system"));
      for (Object one : Corpus.list(request.get("messages"))) {
        Map<String, @Nullable Object> message = Corpus.object(one);
        switch (String.valueOf(message.get("role"))) {
          case "system" -> system(message.get("content"));
          case "user" -> user(message.get("content"));
          default -> assistant(Corpus.list(message.get("content")));
        }
      }
      pieces.addFirst("system: " + system);
      return pieces;
    }

    private void system(@Nullable Object content) {
      String text = String.join("\n", texts(content));
      if (!text.isEmpty()) {
        system.append(system.isEmpty() ? "" : "\n\n").append(text);
      }
    }

    private void user(@Nullable Object content) {
      List<Object> rest = new ArrayList<>();
      for (Object one :
          content instanceof String text ? List.of(block(text)) : Corpus.list(content)) {
        Map<String, @Nullable Object> block = Corpus.object(one);
        if ("tool_result".equals(block.get("type"))) {
          Object id = block.get("tool_use_id");
          Integer number = id == null ? open.peek() : numbers.get(String.valueOf(id));
          open.remove(number);
          pieces.add(
              "result of "
                  + number
                  + (Boolean.TRUE.equals(block.get("is_error")) ? ", failed: " : ": ")
                  + parts(block.get("content")));
        } else {
          rest.add(block);
        }
      }
      String parts = parts(rest);
      if (!parts.equals("[]")) {
        pieces.add("user: " + parts);
      }
    }

    private void assistant(List<?> content) {
      List<String> thinking = new ArrayList<>();
      List<String> texts = new ArrayList<>();
      List<String> called = new ArrayList<>();
      for (Object one : content) {
        Map<String, @Nullable Object> block = Corpus.object(one);
        switch (String.valueOf(block.get("type"))) {
          case "thinking" -> thinking.add(String.valueOf(block.get("thinking")));
          case "text" -> texts.add(String.valueOf(block.get("text")));
          case "tool_use" -> {
            int number = calls++;
            numbers.put(String.valueOf(block.get("id")), number);
            open.add(number);
            called.add(
                "call " + number + ": " + block.get("name") + Json.write(block.get("input")));
          }
          default -> {}
        }
      }
      thinking.removeIf(String::isEmpty);
      texts.removeIf(String::isEmpty);
      if (!thinking.isEmpty() || !texts.isEmpty() || !called.isEmpty()) {
        pieces.add("thinking: " + String.join("\n", thinking));
        pieces.add("assistant: " + String.join("\n", texts));
        pieces.addAll(called);
      }
    }

    private static List<String> texts(@Nullable Object content) {
      List<String> texts = new ArrayList<>();
      if (content instanceof String text) {
        texts.add(text);
      }
      for (Object one : Corpus.list(content)) {
        texts.add(String.valueOf(Corpus.object(one).get("text")));
      }
      texts.removeIf(String::isEmpty);
      return texts;
    }

    /** Texts next to one another are one text if there is no image among them. */
    private static String parts(@Nullable Object content) {
      List<String> parts = new ArrayList<>();
      if (content instanceof String text) {
        parts.add(text);
      }
      Corpus.list(content).forEach(block -> part(Corpus.object(block), parts));
      parts.removeIf(String::isEmpty);
      boolean images = parts.stream().anyMatch(part -> part.startsWith("\u0001"));
      return images || parts.isEmpty() ? parts.toString() : "[" + String.join("\n", parts) + "]";
    }

    private static void part(Map<String, @Nullable Object> block, List<String> parts) {
      Map<String, @Nullable Object> source = Corpus.object(block.get("source"));
      switch (String.valueOf(block.get("type"))) {
        case "image" ->
            parts.add(
                "\u0001"
                    + (source.containsKey("url")
                        ? source.get("url")
                        : "data:" + source.get("media_type") + ";base64," + source.get("data")));
        case "document" -> {
          parts.add(String.valueOf(block.getOrDefault("title", "")));
          parts.add(String.valueOf(source.getOrDefault("data", "")));
          Corpus.list(source.get("content")).forEach(one -> part(Corpus.object(one), parts));
        }
        default -> parts.add(String.valueOf(block.get("text")));
      }
    }
  }

  /** A chat completion request as one of this dialect. */
  static Map<String, @Nullable Object> back(TranslatedRequest translated)
      throws MalformedJsonException {
    Map<String, @Nullable Object> request = object("model", translated.model());
    List<Object> messages = new ArrayList<>();
    List<Object> answering = new ArrayList<>();
    for (Object one : Corpus.list(translated.chat().get("messages"))) {
      Map<String, @Nullable Object> message = Corpus.object(one);
      String role = String.valueOf(message.get("role"));
      if (role.equals("tool")) {
        answering.add(result(message));
        continue;
      }
      if (role.equals("user")) {
        answering.addAll(parts(message.get("content")));
      }
      if (!answering.isEmpty()) {
        messages.add(object("role", "user", "content", List.copyOf(answering)));
        answering.clear();
      }
      if (role.equals("system")) {
        request.put("system", message.get("content"));
      } else if (role.equals("assistant")) {
        messages.add(
            object("role", "assistant", "content", assistant(message, translated.tools())));
      }
    }
    if (!answering.isEmpty()) {
      messages.add(object("role", "user", "content", answering));
    }
    request.put("messages", messages);
    return request;
  }

  private static Map<String, @Nullable Object> result(Map<String, @Nullable Object> message) {
    List<Object> parts = new ArrayList<>(parts(message.get("content")));
    String first =
        parts.isEmpty() ? "" : String.valueOf(Corpus.object(parts.getFirst()).get("text"));
    boolean failed = first.startsWith("ERROR:");
    if (failed) {
      parts.removeFirst();
      if (first.length() > "ERROR: ".length()) {
        parts.addFirst(block(first.substring("ERROR: ".length())));
      }
    }
    return object(
        "type",
        "tool_result",
        "tool_use_id",
        message.get("tool_call_id"),
        "is_error",
        failed,
        "content",
        parts);
  }

  private static List<Map<String, @Nullable Object>> parts(@Nullable Object content) {
    if (content instanceof String text) {
      return text.isEmpty() ? List.of() : List.of(block(text));
    }
    List<Map<String, @Nullable Object>> parts = new ArrayList<>();
    for (Object one : Corpus.list(content)) {
      Map<String, @Nullable Object> part = Corpus.object(one);
      parts.add(
          "image_url".equals(part.get("type"))
              ? image(String.valueOf(Corpus.object(part.get("image_url")).get("url")))
              : block(String.valueOf(part.get("text"))));
    }
    return parts;
  }

  private static List<Object> assistant(Map<String, @Nullable Object> message, ToolNames names)
      throws MalformedJsonException {
    List<Object> blocks = new ArrayList<>();
    if (message.get("reasoning_content") instanceof String thinking) {
      blocks.add(object("type", "thinking", "thinking", thinking, "signature", "s"));
    }
    blocks.addAll(parts(message.get("content")));
    for (Object one : Corpus.list(message.get("tool_calls"))) {
      Map<String, @Nullable Object> call = Corpus.object(one);
      Map<String, @Nullable Object> function = Corpus.object(call.get("function"));
      blocks.add(
          object(
              "type",
              "tool_use",
              "id",
              call.get("id"),
              "name",
              names.original(String.valueOf(function.get("name"))).name(),
              "input",
              Json.parse(String.valueOf(function.get("arguments")))));
    }
    return blocks;
  }
}
