package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The golden translations of cc_convert, which are not part of this project: their folder is given
 * with {@code -Dgoldens=…}, or looked for beside the project. Null members, part lists of text
 * alone, and spaces in arguments make no difference, as its own harness has it.
 */
class GoldensTest {

  /** Goldens that contradict the wire format, with what we do in their place. */
  private static final Map<String, String> WRONG =
      Map.of(
          "19_stream_include_usage", "engines report usage in streams only if they are asked to",
          "22_empty_content", "usage that nobody reported is estimated and marked, not 0",
          "35_assistant_thinking_history", "engines read reasoning_content, not thinking_blocks",
          "39_tool_choice_auto_no_parallel", "disable_parallel_tool_use has a field of its own",
          "43_stop_sequences", "the field is called stop",
          "29_two_parallel_tool_calls", "merges two calls into one block with the input {}{}",
          "30_stream_ends_without_finish_reason", "takes a stream that was cut for a whole one",
          "31_reasoning_then_text", "has a thinking delta in a text block");

  private static Path folder = Path.of("");

  @BeforeAll
  static void find() {
    String given = System.getProperty("goldens", "../shared/conformance/anthropic_openai");
    folder = Path.of(given);
    assumeTrue(Files.isDirectory(folder), "no golden translations at " + folder.toAbsolutePath());
  }

  @Test
  void noneIsLost() throws IOException {
    assertThat(cases("requests", "anthropic_")).hasSize(32);
    assertThat(cases("responses", "openai_")).hasSize(6);
    assertThat(cases("streams", "openai_")).hasSize(5);
    List<String> all = new ArrayList<>(cases("requests", "anthropic_"));
    all.addAll(cases("responses", "openai_"));
    all.addAll(cases("streams", "openai_"));
    assertThat(all).containsAll(WRONG.keySet());
  }

  @TestFactory
  Stream<DynamicTest> requests() throws IOException {
    return tests("requests", "anthropic_", GoldensTest::request);
  }

  @TestFactory
  Stream<DynamicTest> answers() throws IOException {
    return tests("responses", "openai_", GoldensTest::answer);
  }

  @TestFactory
  Stream<DynamicTest> streams() throws IOException {
    return tests("streams", "openai_", GoldensTest::stream);
  }

  private interface Check {
    void check(String name) throws Exception;
  }

  private static Stream<DynamicTest> tests(String kind, String prefix, Check check)
      throws IOException {
    return cases(kind, prefix).stream()
        .map(name -> DynamicTest.dynamicTest(name, () -> rightOrWrong(name, check)));
  }

  /** A wrong golden must stay different: else it belongs to the right ones. */
  private static void rightOrWrong(String name, Check check) throws Exception {
    if (!WRONG.containsKey(name)) {
      check.check(name);
      return;
    }
    boolean same;
    try {
      check.check(name);
      same = true;
    } catch (AssertionError | MalformedJsonException different) {
      same = false;
    }
    assertThat(same).as("the same as the golden that is listed as wrong").isFalse();
  }

  private static List<String> cases(String kind, String prefix) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve(kind))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.startsWith(prefix))
          .map(file -> file.substring(prefix.length(), file.lastIndexOf('.')))
          .sorted()
          .toList();
    }
  }

  private static void request(String name) throws Exception {
    TranslatedRequest translated =
        AnthropicRequests.toChat(
            json("requests/anthropic_" + name + ".json"), TranslationOptions.DEFAULT);
    assertThat(plain(translated.chat()))
        .isEqualTo(plain(json("requests/openai_" + name + ".json")));
    assertThat(translated.tools().changed()).isEqualTo(json("requests/tool_map_" + name + ".json"));
  }

  private static TranslatedRequest anyRequest() throws Exception {
    return AnthropicRequests.toChat(
        Map.of("model", "claude-opus-4-7", "messages", List.of()), TranslationOptions.DEFAULT);
  }

  private static void answer(String name) throws Exception {
    byte[] body = Files.readAllBytes(folder.resolve("responses/openai_" + name + ".json"));
    Map<String, @Nullable Object> message =
        new LinkedHashMap<>(
            AnthropicAnswers.of(ChatChunk.ofAnswer(body), anyRequest(), Corpus.counting()));
    Map<String, @Nullable Object> golden =
        new LinkedHashMap<>(Corpus.object(json("responses/anthropic_" + name + ".json")));
    if (!golden.getOrDefault("usage", "").equals(message.get("usage"))
        && Corpus.object(message.get("usage")).containsKey("estimated")
        && !name.startsWith("22")) {
      // No usage came: the golden's is 0, ours is estimated.
      golden.remove("usage");
      message.remove("usage");
    }
    assertThat(plain(message)).isEqualTo(plain(golden));
  }

  private static void stream(String name) throws Exception {
    byte[] bytes = Files.readAllBytes(folder.resolve("streams/openai_" + name + ".sse"));
    List<StreamEvent> events =
        EngineStream.run(bytes, 0, new AnthropicStream(anyRequest(), Corpus.counting()));
    List<StreamEvent> golden = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("streams/anthropic_" + name + ".jsonl"))) {
      Map<String, @Nullable Object> data = Json.object(line);
      golden.add(new StreamEvent(String.valueOf(data.get("type")), data));
    }
    Map<String, @Nullable Object> ours = Assembled.anthropic(events);
    Map<String, @Nullable Object> theirs = Assembled.anthropic(golden);
    assertThat(content(ours)).isEqualTo(content(theirs));
    assertThat(ours.get("stop_reason")).isEqualTo(theirs.get("stop_reason"));
  }

  /** Blocks without the empty text block that the goldens open first. */
  private static List<Object> content(Map<String, @Nullable Object> message) {
    List<Object> content = new ArrayList<>();
    for (Object block : Corpus.list(message.get("content"))) {
      if (!"".equals(Corpus.object(block).get("text"))) {
        content.add(block);
      }
    }
    return content;
  }

  private static @Nullable Object json(String file) throws Exception {
    return Json.parse(ByteSlice.of(Files.readAllBytes(folder.resolve(file))).toString());
  }

  /** Without null members, with text parts as one string, and arguments as trees. */
  private static @Nullable Object plain(@Nullable Object tree) throws Exception {
    if (tree instanceof List<?> list) {
      List<@Nullable Object> copy = new ArrayList<>();
      for (Object item : list) {
        copy.add(plain(item));
      }
      boolean text =
          !copy.isEmpty()
              && copy.stream().allMatch(part -> "text".equals(Corpus.object(part).get("type")));
      return text && copy.stream().noneMatch(part -> Corpus.object(part).containsKey("signature"))
          ? String.join(
              "\n",
              copy.stream().map(part -> String.valueOf(Corpus.object(part).get("text"))).toList())
          : copy;
    }
    if (tree instanceof Map<?, ?> map) {
      Map<String, @Nullable Object> copy = new LinkedHashMap<>();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        Object value =
            entry.getKey().equals("arguments") && entry.getValue() instanceof String json
                ? Json.parse(json)
                : plain(entry.getValue());
        if (value != null) {
          copy.put(String.valueOf(entry.getKey()), value);
        }
      }
      return copy;
    }
    return tree instanceof Integer number ? Long.valueOf(number) : tree;
  }
}
