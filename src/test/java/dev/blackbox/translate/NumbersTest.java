package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.ChatStreamEvent;
import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers in what tools are given pass both ways as they were written, whatever a double holds. */
class NumbersTest {

  /** Two fields whose order is not the alphabet's, a list, and an object within. */
  private static String arguments(String number) {
    return "{\"z\":%s,\"a\":[%s,{\"n\":%s}]}".formatted(number, number, number);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1",
        "1.0",
        "1.10",
        "-0",
        "-0.0",
        "0.1234567890123456789012345678901234567890",
        "9007199254740993",
        "9223372036854775808",
        "123456789012345678901234567890123456789012345678901234567890",
        "1e400",
        "1E-400",
        "1e999999999",
        "-1e99999999999999999999"
      })
  void anthropicInputsKeepTheirNumbers(String number) throws Exception {
    String arguments = arguments(number);
    Map<String, @Nullable Object> answer =
        AnthropicAnswers.of(answer(Json.write(arguments)), request(), Corpus.counting());
    String block = Json.write(answer.get("content"));
    assertThat(block).contains("\"input\":" + arguments + "}");
    String conversation =
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"assistant\",\"content\":"
            + block
            + "}]}";
    TranslatedRequest again =
        AnthropicRequests.toChat(Json.parseExactly(conversation), TranslationOptions.DEFAULT);
    assertThat(Json.write(again.chat())).contains("\"arguments\":" + Json.write(arguments));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.0", "-0", "12345678901234567890.5", "1e400", "1e999999999"})
  void schemasKeepTheirNumbers(String number) throws Exception {
    String tools = "[{\"name\":\"f\",\"input_schema\":{\"maximum\":" + number + "}}]";
    TranslatedRequest request =
        AnthropicRequests.toChat(
            Json.parseExactly("{\"model\":\"m\",\"messages\":[],\"tools\":" + tools + "}"),
            TranslationOptions.DEFAULT);
    assertThat(Json.write(request.chat())).contains("{\"maximum\":" + number + "}");
    String item =
        "{\"model\":\"m\",\"input\":\"\",\"tools\":[{\"type\":\"function\",\"name\":\"f\",";
    TranslatedRequest responses =
        ResponsesRequests.toChat(
            Json.parseExactly(item + "\"parameters\":{\"maximum\":" + number + "}}]}"),
            TranslationOptions.DEFAULT);
    assertThat(Json.write(responses.chat())).contains("{\"maximum\":" + number + "}");
  }

  /** The value, not the spelling: such an engine's arguments were never text. */
  @ParameterizedTest
  @ValueSource(strings = {"1.0", "12345678901234567890.5", "1E+400", "1E+999999999"})
  void argumentsThatAreAnObjectKeepTheValueOfTheirNumbers(String number) throws Exception {
    String arguments = arguments(number);
    assertThat(Json.write(AnthropicAnswers.of(answer(arguments), request(), Corpus.counting())))
        .contains("\"input\":" + arguments);
    String chunk =
        "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":"
            + "{\"name\":\"f\",\"arguments\":"
            + arguments
            + "}}]},\"finish_reason\":\"tool_calls\"}]}";
    DialectStream stream = new AnthropicStream(request(), Corpus.counting());
    List<StreamEvent> out = stream.accept(ChatStreamEvent.parse(ByteSlice.of(bytes(chunk))));
    assertThat(Json.write(out)).contains("\"partial_json\":" + Json.write(arguments));
  }

  /** As JavaScript reads it: the last value, in the place of the first. */
  @Test
  void ofARepeatedKeyTheLastValueCounts() throws Exception {
    ChatChunk answer = answer(Json.write("{\"a\":1,\"b\":2,\"a\":3.0}"));
    assertThat(Json.write(AnthropicAnswers.of(answer, request(), Corpus.counting())))
        .contains("\"input\":{\"a\":3.0,\"b\":2}");
  }

  private static TranslatedRequest request() throws Exception {
    return AnthropicRequests.toChat(
        Map.of("model", "m", "messages", List.of()), TranslationOptions.DEFAULT);
  }

  private static ChatChunk answer(String argumentsJson) throws Exception {
    return ChatChunk.ofAnswer(
        bytes(
            "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"tool_calls\":["
                + "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"
                + argumentsJson
                + "}}]},\"finish_reason\":\"tool_calls\"}]}"));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
