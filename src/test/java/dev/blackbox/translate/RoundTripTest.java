package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Any answer goes to an agent, whole and streamed, comes back as its history, and is then the same
 * message again: text, thinking, refusals, calls, ids and order.
 */
class RoundTripTest {

  private static final int CONVERSATIONS = 20;
  private static final int ANSWERS = 15;
  private static final List<String> TOOLS =
      List.of("f", "read_file", "mcp.server.tool", "x".repeat(70), "naïve tool");

  @Test
  void anthropicConversationsSurvive() throws Exception {
    Seeds.check("anthropicConversationsSurvive", CONVERSATIONS, RoundTripTest::anthropic);
  }

  private static void anthropic(RandomTalk random) throws Exception {
    List<Map<String, Object>> tools =
        TOOLS.stream().map(name -> Map.<String, Object>of("name", name)).toList();
    List<Object> history = new ArrayList<>();
    for (int i = 0; i < ANSWERS; i++) {
      Map<String, Object> before = request("messages", List.copyOf(history), tools);
      TranslatedRequest request = AnthropicRequests.toChat(before, TranslationOptions.DEFAULT);
      Map<String, @Nullable Object> message = message(random, request, i);
      Map<String, @Nullable Object> whole =
          AnthropicAnswers.of(chunk(message), request, Corpus.counting());
      byte[] bytes =
          EngineStream.bytes(EngineStream.chunks(message, "stop", Map.of(), usage()), "\r\n");
      Map<String, @Nullable Object> streamed =
          Assembled.anthropic(
              EngineStream.run(
                  bytes,
                  random.below(bytes.length),
                  new AnthropicStream(request, Corpus.counting())));
      assertThat(streamed).as("answer %d", i).isEqualTo(whole);
      history.add(turn("assistant", streamed.get("content")));
      history.add(turn("user", results(streamed, "tool_use", "id", "tool_result", "tool_use_id")));
      assertLast(
          AnthropicRequests.toChat(request("messages", history, tools), TranslationOptions.DEFAULT),
          message,
          i);
    }
  }

  @Test
  void responsesConversationsSurvive() throws Exception {
    Seeds.check("responsesConversationsSurvive", CONVERSATIONS, RoundTripTest::responses);
  }

  private static void responses(RandomTalk random) throws Exception {
    List<Map<String, Object>> tools = new ArrayList<>();
    for (String name : TOOLS) {
      tools.add(Map.of("type", "function", "name", name));
    }
    tools.add(
        Map.of(
            "type",
            "namespace",
            "name",
            "agents",
            "tools",
            List.of(Map.of("type", "function", "name", "spawn"))));
    tools.add(Map.of("type", "custom", "name", "apply_patch"));
    List<Object> history = new ArrayList<>();
    for (int i = 0; i < ANSWERS; i++) {
      Map<String, Object> before = request("input", List.copyOf(history), tools);
      TranslatedRequest request = ResponsesRequests.toChat(before, TranslationOptions.DEFAULT);
      Map<String, @Nullable Object> message = message(random, request, i);
      Map<String, @Nullable Object> whole =
          ResponsesAnswers.of(chunk(message), request, Corpus.counting());
      byte[] bytes =
          EngineStream.bytes(EngineStream.chunks(message, "stop", Map.of(), usage()), "\r");
      Map<String, @Nullable Object> streamed =
          Assembled.responses(
              EngineStream.run(
                  bytes,
                  random.below(bytes.length),
                  new ResponsesStream(request, Corpus.counting())));
      assertThat(streamed).as("answer %d", i).isEqualTo(whole);
      for (Object item : Corpus.list(streamed.get("output"))) {
        history.add(item);
      }
      history.addAll(results(streamed, "call", "call_id", "function_call_output", "call_id"));
      history.add(turn("user", "go on"));
      assertLast(
          ResponsesRequests.toChat(request("input", history, tools), TranslationOptions.DEFAULT),
          message,
          i);
    }
  }

  private static void assertLast(
      TranslatedRequest again, Map<String, @Nullable Object> message, int i) {
    List<?> messages = Corpus.list(again.chat().get("messages"));
    Map<String, @Nullable Object> last = Map.of();
    for (Object one : messages) {
      if ("assistant".equals(Corpus.object(one).get("role"))) {
        last = Corpus.object(one);
      }
    }
    for (String key : List.of("content", "reasoning_content", "tool_calls")) {
      assertThat(Json.write(last.get(key)))
          .as("answer %d, %s", i, key)
          .isEqualTo(Json.write(message.get(key)));
    }
  }

  /** A message as an engine would give it, in the names that it was shown. */
  private static Map<String, @Nullable Object> message(
      RandomTalk random, TranslatedRequest request, int number) {
    List<String> names = new ArrayList<>();
    for (Object tool : Corpus.list(request.chat().get("tools"))) {
      names.add(String.valueOf(Corpus.object(Corpus.object(tool).get("function")).get("name")));
    }
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("role", "assistant");
    int calls = random.below(4);
    boolean speaks = calls == 0 || random.once(2);
    message.put("content", speaks ? random.text() : null);
    if (random.once(2)) {
      message.put("reasoning_content", random.text());
    }
    List<Object> list = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      String name = names.get(random.below(names.size()));
      Map<String, @Nullable Object> input = new LinkedHashMap<>();
      input.put(name.equals("apply_patch") ? "input" : "k" + random.below(9), random.text());
      Map<String, @Nullable Object> function = new LinkedHashMap<>();
      function.put("name", name);
      function.put("arguments", Json.write(input));
      Map<String, @Nullable Object> call = new LinkedHashMap<>();
      call.put("id", "c" + number + "_" + i);
      call.put("type", "function");
      call.put("function", function);
      list.add(call);
    }
    if (calls > 0) {
      message.put("tool_calls", list);
    }
    return message;
  }

  private static ChatChunk chunk(Map<String, @Nullable Object> message) throws Exception {
    Map<String, @Nullable Object> choice = new LinkedHashMap<>();
    choice.put("message", message);
    choice.put("finish_reason", "stop");
    Map<String, @Nullable Object> answer = EngineStream.envelope();
    answer.put("choices", List.of(choice));
    answer.put("usage", usage());
    return ChatChunk.ofAnswer(Json.writeBytes(answer));
  }

  private static Map<String, Object> usage() {
    return Map.of("prompt_tokens", 10, "completion_tokens", 4);
  }

  private static Map<String, Object> request(
      String key, List<Object> history, List<Map<String, Object>> tools) {
    return Map.of("model", "m", key, history, "tools", tools);
  }

  private static Map<String, @Nullable Object> turn(String role, @Nullable Object content) {
    Map<String, @Nullable Object> turn = new LinkedHashMap<>();
    turn.put("role", role);
    turn.put("content", content);
    return turn;
  }

  private static List<Object> results(
      Map<String, @Nullable Object> answer,
      String callType,
      String idKey,
      String resultType,
      String resultIdKey) {
    List<Object> results = new ArrayList<>();
    Object all = answer.get(resultType.equals("tool_result") ? "content" : "output");
    for (Object item : Corpus.list(all)) {
      Map<String, @Nullable Object> call = Corpus.object(item);
      if (String.valueOf(call.get("type")).endsWith(callType)) {
        Map<String, @Nullable Object> result = new LinkedHashMap<>();
        result.put("type", resultType);
        result.put(resultIdKey, call.get(idKey));
        result.put(resultType.equals("tool_result") ? "content" : "output", "done");
        results.add(result);
      }
    }
    return results;
  }
}
