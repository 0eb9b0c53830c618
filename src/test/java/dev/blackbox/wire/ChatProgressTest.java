package dev.blackbox.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChatProgressTest {

  private final ChatProgress progress = new ChatProgress();

  @Test
  void streamIsUnderstood() throws MalformedJsonException {
    chunk(
        "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"},\"finish_reason\":null}],"
            + "\"usage\":null}");
    chunk("{\"choices\":[{\"delta\":{\"content\":\"the \\\"finish_reason\\\":\\\"stop\\\"\"}}]}");
    assertThat(progress.finished(1)).isFalse();
    chunk(toolDelta("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"\"}}"));
    chunk(toolDelta("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"y\",\"arguments\":\"\"}}"));
    chunk(toolDelta("{\"index\":0,\"function\":{\"arguments\":\"{}\"}}"));
    chunk("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\" : \"tool_calls\"}]}");
    assertThat(progress.finished(1)).isTrue();
    assertThat(progress.finished(2)).isFalse();
    assertThat(progress.usage()).isEqualTo(ChatUsage.UNKNOWN);
    chunk(
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":3},"
            + "\"completion_tokens_details\":null}}");
    assertThat(progress.done()).isFalse();
    chunk("[DONE]");
    assertThat(progress.done()).isTrue();
    assertThat(progress.toolCalls()).isEqualTo(2);
    assertThat(progress.finishReason()).hasValue("tool_calls");
    assertThat(progress.usage().promptTokens()).hasValue(11);
    assertThat(progress.usage().completionTokens()).hasValue(7);
    assertThat(progress.usage().cachedTokens()).hasValue(3);
    assertThat(progress.usage().reasoningTokens()).isEmpty();
    assertThat(progress.error()).isNull();
  }

  /** By id at one index, by name without ids, by nothing but a new index; and not twice. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = ';',
      value = {
        "2; {'index':0,'id':'a','function':{'name':'x','arguments':'{}'}};"
            + " {'index':0,'id':'b','function':{'name':'x','arguments':'{}'}}",
        "1; {'index':0,'id':'a','function':{'name':'x','arguments':'{'}};"
            + " {'index':0,'id':'a','function':{'name':'x','arguments':'}'}}",
        "2; {'index':0,'function':{'name':'x','arguments':'{}'}};"
            + " {'index':0,'function':{'name':'x','arguments':'{}'}}",
        "1; {'index':0,'function':{'name':'x','arguments':''}};"
            + " {'index':0,'function':{'name':'x','arguments':'{}'}}",
        "2; {'function':{'name':'x','arguments':'{}'}}; {'function':{'name':'y','arguments':'{}'}}",
        "1; {'id':'a','function':{'name':'x'}}; {'function':{'arguments':'{}'}}",
        "2; {'index':0,'function':{'arguments':'{}'}}; {'index':7,'function':{'arguments':'{}'}}"
      })
  void toolCallsAreCountedHoweverTheyAreNumbered(int calls, String first, String second)
      throws MalformedJsonException {
    chunk(toolDelta(first.replace('\'', '"')));
    chunk(toolDelta(second.replace('\'', '"')));
    assertThat(progress.toolCalls()).isEqualTo(calls);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"x\"}}",
        "{ \"error\" : \"x\" }",
        "{\"object\":\"error\",\"message\":\"x\",\"code\":400}"
      })
  void errorsAreNoticed(String data) throws MalformedJsonException {
    chunk(data);
    assertThat(progress.error()).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"choices\":[{\"delta\":{\"content\":\"\\\"error\\\": {}\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"error\"}}],\"error\":null}",
        "{\"choices\":[{\"delta\":{\"content\":\"} ] \\\\\"}}]}"
      })
  void proseAboutErrorsIsNoError(String data) throws MalformedJsonException {
    chunk(data);
    assertThat(progress.error()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"choices\":[{\"delta\":{\"content\":\"cut",
        "{\"choices\":[{\"delta\":{\"content\":\"cut\"}",
        "{\"choices\":[]}}",
        "hello",
        "[1]",
        "5",
        "<html>"
      })
  void whatIsNoChunkIsRefused(String data) {
    assertThatThrownBy(() -> chunk(data)).isInstanceOf(MalformedJsonException.class);
  }

  @Test
  void plainAnswerIsUnderstood() throws MalformedJsonException {
    progress.answer(
        utf8(
            "{\"choices\":[{\"index\":0,\"message\":{\"content\":null,\"tool_calls\":"
                + "[{\"id\":\"a\"},{\"id\":\"b\"},{}]},\"finish_reason\":\"tool_calls\"}],"
                + "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":-5,"
                + "\"completion_tokens_details\":{\"reasoning_tokens\":4}}}"));
    assertThat(progress.toolCalls()).isEqualTo(3);
    assertThat(progress.finishReason()).hasValue("tool_calls");
    assertThat(progress.usage().reasoningTokens()).hasValue(4);
    assertThat(progress.usage().completionTokens()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html></html>", "[]", "{}", "{\"choices\":[]}", "{\"choices\":[{}"})
  void whatIsNoAnswerIsRefused(String body) {
    assertThatThrownBy(() -> progress.answer(utf8(body)))
        .isInstanceOf(MalformedJsonException.class);
  }

  /** Some engines send an empty one with each chunk; a stream that is cut must not look whole. */
  @Test
  void anEmptyFinishReasonIsNone() throws MalformedJsonException {
    chunk("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"\"}]}");
    assertThat(progress.finished(1)).isFalse();
    assertThat(progress.finishReason()).isEmpty();
  }

  private static String toolDelta(String call) {
    return "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[" + call + "]}}]}";
  }

  private void chunk(String data) throws MalformedJsonException {
    progress.chunk(ByteSlice.of(utf8(data)));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
