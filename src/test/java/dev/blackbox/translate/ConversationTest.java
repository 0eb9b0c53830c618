package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Whole conversations of users, agents and tools: what stands in a request of either dialect stands
 * in the chat completion, each piece once, in order and with its ids, and nothing else does. {@code
 * -Dconversation.seed=…} repeats a run; a failure names its seed.
 */
class ConversationTest {

  private static final int CONVERSATIONS = 400;
  private static final long SEED = Long.getLong("conversation.seed", System.nanoTime());
  private static final String IMAGE = "https://images.test/";
  private static final List<String> TOOLS =
      List.of("f", "read_file", "mcp.server.tool", "x".repeat(70), "naïve tool");

  private RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
  private int counter;

  /** What is said, as both dialects can say it. */
  private sealed interface Said {
    record User(String text, boolean image, String after) implements Said {}

    record Agent(String thinking, String text, List<Called> calls) implements Said {}
  }

  private record Called(String id, String name, String arguments, String result, boolean failed) {}

  @Test
  void anthropicConversationsAreKept() throws Exception {
    for (int i = 0; i < CONVERSATIONS; i++) {
      List<Said> all = conversation(i, true);
      List<Object> messages = new ArrayList<>();
      all.forEach(said -> anthropic(said, messages));
      TranslatedRequest chat =
          AnthropicRequests.toChat(
              Map.of("model", "m", "system", "be good", "messages", messages),
              TranslationOptions.DEFAULT);
      assertThat(read(chat)).as("seed %d, conversation %d", SEED + i, i).isEqualTo(pieces(all));
    }
  }

  @Test
  void responsesConversationsAreKept() throws Exception {
    for (int i = 0; i < CONVERSATIONS; i++) {
      List<Said> all = conversation(i, false);
      List<Object> items = new ArrayList<>();
      all.forEach(said -> responses(said, items));
      TranslatedRequest chat =
          ResponsesRequests.toChat(
              Map.of("model", "m", "instructions", "be good", "input", items),
              TranslationOptions.DEFAULT);
      assertThat(read(chat)).as("seed %d, conversation %d", SEED + i, i).isEqualTo(pieces(all));
    }
  }

  /** Each has a seed of its own, so that a failing one can be repeated alone, as the first. */
  private List<Said> conversation(int number, boolean failures) {
    random = RandomGeneratorFactory.of("L64X128MixRandom").create(SEED + number);
    counter = 0;
    List<Said> all = new ArrayList<>();
    for (int turns = 1 + random.nextInt(4); turns > 0; turns--) {
      all.add(new Said.User(text(), random.nextInt(4) == 0, text()));
      for (int steps = random.nextInt(3); steps > 0; steps--) {
        List<Called> calls = new ArrayList<>();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
          calls.add(called(failures));
        }
        all.add(new Said.Agent(maybe(text()), maybe(text()), calls));
      }
      all.add(new Said.Agent(maybe(text()), text(), List.of()));
    }
    return all;
  }

  private Called called(boolean failures) {
    Map<String, Object> arguments = new LinkedHashMap<>();
    for (int n = random.nextInt(3); n > 0; n--) {
      arguments.put("k" + n, random.nextBoolean() ? text() : List.of(n, text()));
    }
    return new Called(
        "call-" + counter++,
        TOOLS.get(random.nextInt(TOOLS.size())),
        Json.write(arguments),
        text(),
        failures && random.nextInt(5) == 0);
  }

  private String maybe(String text) {
    return random.nextBoolean() ? text : "";
  }

  /** No two are the same, so that a mistaken order is seen. */
  private String text() {
    StringBuilder text = new StringBuilder("t" + counter++);
    for (int i = random.nextInt(8); i > 0; i--) {
      text.append(
          List.of("a", " ", "\n", "é", "🦜", "\"", "\\", "\r", "data:", "\u0000", "</s>")
              .get(random.nextInt(11)));
    }
    return text.append('.').toString();
  }

  private static void anthropic(Said said, List<Object> messages) {
    switch (said) {
      case Said.User(var text, var image, var after) -> {
        List<Object> content = new ArrayList<>(List.of(Map.of("type", "text", "text", text)));
        if (image) {
          Map<String, String> source = Map.of("type", "url", "url", IMAGE + after.length());
          content.add(Map.of("type", "image", "source", source));
          content.add(Map.of("type", "text", "text", after));
        }
        messages.add(Map.of("role", "user", "content", content));
      }
      case Said.Agent(var thinking, var text, var calls) -> {
        List<Object> content = new ArrayList<>();
        if (!thinking.isEmpty()) {
          content.add(Map.of("type", "thinking", "thinking", thinking, "signature", "s"));
        }
        if (!text.isEmpty()) {
          content.add(Map.of("type", "text", "text", text));
        }
        List<Object> results = new ArrayList<>();
        for (Called call : calls) {
          content.add(
              Map.of(
                  "type",
                  "tool_use",
                  "id",
                  call.id(),
                  "name",
                  call.name(),
                  "input",
                  Json.object(call.arguments())));
          results.add(
              Map.of(
                  "type",
                  "tool_result",
                  "tool_use_id",
                  call.id(),
                  "content",
                  call.result(),
                  "is_error",
                  call.failed()));
        }
        messages.add(Map.of("role", "assistant", "content", content));
        if (!results.isEmpty()) {
          messages.add(Map.of("role", "user", "content", results));
        }
      }
    }
  }

  private static void responses(Said said, List<Object> items) {
    switch (said) {
      case Said.User(var text, var image, var after) -> {
        List<Object> content = new ArrayList<>(List.of(Map.of("type", "input_text", "text", text)));
        if (image) {
          content.add(Map.of("type", "input_image", "image_url", IMAGE + after.length()));
          content.add(Map.of("type", "input_text", "text", after));
        }
        items.add(Map.of("role", "user", "content", content));
      }
      case Said.Agent(var thinking, var text, var calls) -> {
        if (!thinking.isEmpty()) {
          Map<String, String> part = Map.of("type", "summary_text", "text", thinking);
          items.add(Map.of("type", "reasoning", "id", "r", "summary", List.of(part)));
        }
        if (!text.isEmpty()) {
          Map<String, String> part = Map.of("type", "output_text", "text", text);
          items.add(Map.of("type", "message", "role", "assistant", "content", List.of(part)));
        }
        for (Called call : calls) {
          items.add(
              Map.of(
                  "type",
                  "function_call",
                  "call_id",
                  call.id(),
                  "name",
                  call.name(),
                  "arguments",
                  call.arguments()));
        }
        for (Called call : calls) {
          items.add(
              Map.of(
                  "type", "function_call_output", "call_id", call.id(), "output", call.result()));
        }
      }
    }
  }

  /** What must be found in the chat completion. */
  private static List<String> pieces(List<Said> all) {
    List<String> pieces = new ArrayList<>(List.of("system: be good"));
    for (Said said : all) {
      switch (said) {
        case Said.User(var text, var image, var after) -> {
          pieces.add("user: " + text);
          if (image) {
            pieces.add("image: " + IMAGE + after.length());
            pieces.add("user: " + after);
          }
        }
        case Said.Agent(var thinking, var text, var calls) -> {
          pieces.add("thinking: " + thinking);
          pieces.add("assistant: " + text);
          calls.forEach(c -> pieces.add("call " + c.id() + " " + c.name() + c.arguments()));
          calls.forEach(
              c ->
                  pieces.add(
                      "result " + c.id() + " " + (c.failed() ? "ERROR: " : "") + c.result()));
        }
      }
    }
    return pieces;
  }

  /** What is found there. */
  private static List<String> read(TranslatedRequest request) {
    List<String> pieces = new ArrayList<>();
    for (Object one : Corpus.list(request.chat().get("messages"))) {
      Map<String, @Nullable Object> message = Corpus.object(one);
      String role = String.valueOf(message.get("role"));
      if (role.equals("assistant")) {
        pieces.add("thinking: " + text(message.get("reasoning_content")));
      }
      if (role.equals("tool")) {
        pieces.add("result " + message.get("tool_call_id") + " " + message.get("content"));
      } else if (message.get("content") instanceof List<?> parts) {
        parts.forEach(part -> pieces.add(part(role, Corpus.object(part))));
      } else {
        pieces.add(role + ": " + text(message.get("content")));
      }
      for (Object call : Corpus.list(message.get("tool_calls"))) {
        Map<String, @Nullable Object> function = Corpus.object(Corpus.object(call).get("function"));
        String name = String.valueOf(function.get("name"));
        assertThat(name).matches("[A-Za-z0-9_-]{1,64}");
        pieces.add(
            "call "
                + Corpus.object(call).get("id")
                + " "
                + request.tools().original(name).name()
                + function.get("arguments"));
      }
    }
    return pieces;
  }

  private static String part(String role, Map<String, @Nullable Object> part) {
    return "image_url".equals(part.get("type"))
        ? "image: " + Corpus.object(part.get("image_url")).get("url")
        : role + ": " + text(part.get("text"));
  }

  private static String text(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }
}
