package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatStreamEvent;
import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams whose order, ends and oddities matter. */
class StreamsTest {

  private static final String FINISH =
      "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}";
  private static final String STOP =
      "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}";
  private static final String USAGE =
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4}}";

  private static String delta(String delta) {
    return "{\"id\":\"chatcmpl-1\",\"model\":\"e\",\"created\":7,\"choices\":[{\"index\":0,\"delta\":"
        + delta
        + ",\"finish_reason\":null}]}";
  }

  private static String call(String call) {
    return delta("{\"tool_calls\":[" + call + "]}");
  }

  private static DialectStream stream(Dialect dialect) throws Exception {
    return dialect == Dialect.ANTHROPIC
        ? new AnthropicStream(
            AnthropicRequests.toChat(
                Map.of("model", "m", "messages", List.of()), TranslationOptions.DEFAULT),
            Corpus.counting())
        : new ResponsesStream(
            ResponsesRequests.toChat(
                Map.of("model", "m", "input", "x"), TranslationOptions.DEFAULT),
            Corpus.counting());
  }

  private static List<StreamEvent> feed(DialectStream stream, String... datas) throws Exception {
    List<StreamEvent> out = new ArrayList<>();
    for (String data : datas) {
      out.addAll(
          stream.accept(
              ChatStreamEvent.parse(ByteSlice.of(data.getBytes(StandardCharsets.UTF_8)))));
    }
    return out;
  }

  private static List<String> names(List<StreamEvent> events) {
    return events.stream().map(StreamEvent::name).toList();
  }

  @Test
  void anthropicEventsComeInTheirOrder() throws Exception {
    DialectStream stream = stream(Dialect.ANTHROPIC);
    List<StreamEvent> out =
        feed(
            stream,
            delta("{\"reasoning_content\":\"hm\"}"),
            delta("{\"content\":\"so\"}"),
            call("{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"),
            FINISH,
            USAGE,
            "[DONE]");
    assertThat(names(out))
        .containsExactly(
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop");
    Corpus.check(out.getFirst().data(), Map.of("/message/id", "chatcmpl-1", "/message/model", "e"));
    assertThat(new String(out.get(6).toBytes(), StandardCharsets.UTF_8))
        .isEqualTo(
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,"
                + "\"delta\":{\"type\":\"text_delta\",\"text\":\"so\"}}\n\n");
    assertThat(stream.state()).isEqualTo(DialectStream.State.COMPLETE);
    assertThat(feed(stream, STOP, "[DONE]")).isEmpty();
    assertThat(stream.end()).isEmpty();
    assertThat(stream.keepAlive()).isEmpty();
  }

  @Test
  void responsesEventsComeInTheirOrder() throws Exception {
    List<StreamEvent> out =
        feed(
            stream(Dialect.RESPONSES),
            delta("{\"reasoning_content\":\"hm\"}"),
            delta("{\"content\":\"so\"}"),
            call("{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"),
            FINISH,
            USAGE,
            "[DONE]");
    assertThat(names(out))
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed");
    Corpus.check(
        Assembled.responses(out),
        Map.of("/usage/total_tokens", 14, "/model", "e", "/output/2/call_id", "c"));
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void textGoesOutAtOnceAndCallsAtTheEnd(Dialect dialect) throws Exception {
    DialectStream stream = stream(dialect);
    assertThat(Json.write(feed(stream, delta("{\"content\":\"a\"}")))).contains("\"a\"");
    assertThat(
            feed(
                stream,
                call(
                    "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\","
                        + "\"arguments\":\"{}\"}}")))
        .isEmpty();
    assertThat(Json.write(feed(stream, delta("{\"content\":\"b\"}")))).contains("\"b\"");
    assertThat(Json.write(feed(stream, FINISH))).contains("\"f\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "interleaved|{'index':0,'id':'a','function':{'name':'f','arguments':'{\"x\"'}}"
            + "|{'index':1,'id':'b','function':{'name':'g','arguments':'{\"y\"'}}"
            + "|{'index':0,'function':{'arguments':':1}'}}|{'index':1,'function':{'arguments':':2}'}}",
        "index repeated|{'index':0,'id':'a','function':{'name':'f','arguments':'{\"x\"'}}"
            + "|{'index':0,'function':{'arguments':':1}'}}"
            + "|{'index':0,'id':'b','function':{'name':'g','arguments':'{\"y\"'}}"
            + "|{'index':0,'function':{'arguments':':2}'}}",
        "no index|{'id':'a','function':{'name':'f','arguments':'{\"x\"'}}"
            + "|{'function':{'arguments':':1}'}}"
            + "|{'id':'b','function':{'name':'g','arguments':'{\"y\"'}}"
            + "|{'id':'b','function':{'arguments':':2}'}}",
        "id and name repeated|{'index':0,'id':'a','function':{'name':'f','arguments':'{\"x\"'}}"
            + "|{'index':0,'id':'a','function':{'name':'f','arguments':':1}'}}"
            + "|{'index':1,'id':'b','function':{'name':'g','arguments':'{\"y\"'}}"
            + "|{'index':1,'id':'b','function':{'name':'g','arguments':':2}'}}",
        "another id for each"
            + " piece|{'index':0,'id':'a','function':{'name':'f','arguments':'{\"x\"'}}"
            + "|{'index':0,'id':'a2','function':{'name':null,'arguments':':1}'}}"
            + "|{'index':1,'id':'b','function':{'name':'g','arguments':'{\"y\"'}}"
            + "|{'index':1,'id':'b2','function':{'arguments':':2}'}}",
        "id and name late|{'index':0,'function':{'arguments':'{\"x\"'}}"
            + "|{'index':0,'id':'a','function':{'name':'f','arguments':':1}'}}"
            + "|{'index':1,'id':'b','function':{'arguments':'{\"y\"'}}"
            + "|{'index':1,'function':{'name':'g','arguments':':2}'}}",
        "second call first|{'index':1,'id':'b','function':{'name':'g','arguments':'{\"y\"'}}"
            + "|{'index':0,'id':'a','function':{'name':'f','arguments':'{\"x\"'}}"
            + "|{'index':0,'function':{'arguments':':1}'}}|{'index':1,'function':{'arguments':':2}'}}"
      })
  void toolCallsArePutTogether(String kind, String one, String two, String three, String four)
      throws Exception {
    List<String> datas = new ArrayList<>();
    for (String piece : List.of(one, two, three, four)) {
      datas.add(call(piece.replace("\"", "\\\"").replace('\'', '"')));
    }
    datas.addAll(List.of(FINISH, "[DONE]"));
    Map<String, @Nullable Object> message =
        Assembled.anthropic(feed(stream(Dialect.ANTHROPIC), datas.toArray(String[]::new)));
    assertThat(Json.write(message.get("content")))
        .as(kind)
        .isEqualTo(
            "[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\":1}},"
                + "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"g\",\"input\":{\"y\":2}}]");
    Map<String, @Nullable Object> response =
        Assembled.responses(feed(stream(Dialect.RESPONSES), datas.toArray(String[]::new)));
    Corpus.check(
        response,
        Map.of(
            "/output/0/call_id",
            "a",
            "/output/0/arguments",
            "{\"x\":1}",
            "/output/1/call_id",
            "b",
            "/output/1/arguments",
            "{\"y\":2}"));
  }

  @Test
  void emptyDeltasOpenNothing() throws Exception {
    List<StreamEvent> out =
        feed(
            stream(Dialect.ANTHROPIC),
            delta("{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":null}"),
            delta("{\"content\":null,\"reasoning_content\":\"\",\"tool_calls\":null}"));
    assertThat(names(out)).containsExactly("message_start");
  }

  @Test
  void usageCountsAlsoBeforeAndWithTheFinishReason() throws Exception {
    String both =
        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
            + "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4}}";
    for (List<String> order : List.of(List.of(USAGE, STOP), List.of(both), List.of(STOP, USAGE))) {
      List<String> datas = new ArrayList<>(order);
      datas.addFirst(delta("{\"content\":\"x\"}"));
      datas.add("[DONE]");
      Corpus.check(
          Assembled.anthropic(feed(stream(Dialect.ANTHROPIC), datas.toArray(String[]::new))),
          Map.of("/usage/input_tokens", 10, "/usage/output_tokens", 4));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStreamWithoutAFinishReasonIsAnError(boolean done) throws Exception {
    for (Dialect dialect : List.of(Dialect.ANTHROPIC, Dialect.RESPONSES)) {
      DialectStream stream = stream(dialect);
      List<StreamEvent> out =
          feed(
              stream,
              delta("{\"content\":\"par\"}"),
              call(
                  "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"));
      out.addAll(done ? feed(stream, "[DONE]") : stream.end());
      assertError(dialect, out, "api_error", "server_error");
      assertThat(Json.write(out)).doesNotContain("\"tool_use\"", "function_call");
      assertThat(stream.state()).isEqualTo(DialectStream.State.FAILED);
      assertThat(stream.failure().orElseThrow().errorClass()).isEqualTo(ErrorClass.TRANSPORT);
      assertThat(feed(stream, STOP)).isEmpty();
    }
  }

  @Test
  void aStreamWithAFinishReasonNeedsNoDone() throws Exception {
    DialectStream stream = stream(Dialect.ANTHROPIC);
    List<StreamEvent> out = feed(stream, delta("{\"content\":\"x\"}"), STOP);
    out.addAll(stream.end());
    Corpus.check(Assembled.anthropic(out), Map.of("/stop_reason", "end_turn"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"error\":{\"message\":\"no\",\"code\":\"context_overflow\",\"status_code\":413}}"
            + "|invalid_request_error|context_length_exceeded",
        "{\"error\":{\"message\":\"no\",\"code\":429}}|rate_limit_error|rate_limit_exceeded",
        "{\"error\":\"boom\"}|api_error|server_error",
        "{\"object\":\"error\",\"message\":\"no\",\"code\":400}|invalid_request_error|invalid_prompt"
      })
  void anErrorFrameIsAnError(String frame, String anthropicType, String responsesCode)
      throws Exception {
    for (Dialect dialect : List.of(Dialect.ANTHROPIC, Dialect.RESPONSES)) {
      List<StreamEvent> late = feed(stream(dialect), delta("{\"content\":\"x\"}"), frame, STOP);
      assertError(dialect, late, anthropicType, responsesCode);
      List<StreamEvent> afterFinish =
          feed(stream(dialect), delta("{\"content\":\"x\"}"), STOP, frame, "[DONE]");
      assertError(dialect, afterFinish, anthropicType, responsesCode);
    }
  }

  private static void assertError(
      Dialect dialect, List<StreamEvent> out, String anthropicType, String responsesCode) {
    StreamEvent last = out.getLast();
    if (dialect == Dialect.ANTHROPIC) {
      assertThat(last.name()).isEqualTo("error");
      Corpus.check(last.data(), Map.of("/type", "error", "/error/type", anthropicType));
      assertThat(names(out)).doesNotContain("message_delta", "message_stop");
    } else {
      Assembled.sequence(out);
      assertThat(last.name()).isEqualTo("response.failed");
      Corpus.check(
          last.data(), Map.of("/response/status", "failed", "/response/error/code", responsesCode));
    }
  }

  @Test
  void keepAlivesAreWhatEachAgentCountsAsLife() throws Exception {
    DialectStream claude = stream(Dialect.ANTHROPIC);
    assertThat(Json.write(claude.keepAlive()))
        .isEqualTo("[{\"name\":\"ping\",\"data\":{\"type\":\"ping\"}}]");
    List<StreamEvent> out = new ArrayList<>(feed(claude, delta("{\"content\":\"x\"}")));
    out.addAll(claude.keepAlive());
    out.addAll(feed(claude, STOP, "[DONE]"));
    Corpus.check(Assembled.anthropic(out), Map.of("/content/0/text", "x"));

    DialectStream codex = stream(Dialect.RESPONSES);
    List<StreamEvent> events = new ArrayList<>(codex.keepAlive());
    assertThat(names(events)).containsExactly("response.created", "response.in_progress");
    events.addAll(codex.keepAlive());
    events.addAll(feed(codex, delta("{\"content\":\"x\"}")));
    events.addAll(codex.keepAlive());
    events.addAll(feed(codex, STOP, "[DONE]"));
    Corpus.check(
        Assembled.responses(events), Map.of("/id", "resp_1", "/output/0/content/0/text", "x"));
  }

  @Test
  void anAnswerCanBeBegunBeforeTheEngineSpeaks() throws Exception {
    DialectStream stream = stream(Dialect.ANTHROPIC);
    List<StreamEvent> out = new ArrayList<>(stream.start());
    assertThat(stream.start()).isEmpty();
    Corpus.check(out.getFirst().data(), Map.of("/message/model", "m", "/message/id", "msg_1"));
    out.addAll(feed(stream, delta("{\"content\":\"x\"}"), STOP, "[DONE]"));
    Corpus.check(Assembled.anthropic(out), Map.of("/content/0/text", "x"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aVoidRolloutEndsQuietly(boolean begun) throws Exception {
    for (Dialect dialect : List.of(Dialect.ANTHROPIC, Dialect.RESPONSES)) {
      DialectStream stream = stream(dialect);
      List<StreamEvent> out = new ArrayList<>();
      if (begun) {
        out.addAll(feed(stream, delta("{\"content\":\"x\"}")));
      }
      out.addAll(stream.endVoid());
      boolean anthropic = dialect == Dialect.ANTHROPIC;
      Map<String, @Nullable Object> answer =
          anthropic ? Assembled.anthropic(out) : Assembled.responses(out);
      Corpus.check(
          answer,
          anthropic
              ? Map.of("/stop_reason", "end_turn", "/usage/output_tokens", 0)
              : Map.of("/status", "completed", "/usage/total_tokens", 0));
    }
  }

  @Test
  void aVoidAnswerIsTheReferencesOwn() throws Exception {
    TranslatedRequest request =
        AnthropicRequests.toChat(
            Map.of("model", "m", "messages", List.of()), TranslationOptions.DEFAULT);
    Corpus.check(
        AnthropicAnswers.ofVoid(request),
        Map.of(
            "/id",
            "msg_rollout_invalidated",
            "/content/0/type",
            "text",
            "/content/0/text",
            "",
            "/usage/input_tokens",
            0,
            "/usage/output_tokens",
            0));
    Corpus.check(
        ResponsesAnswers.ofVoid(request),
        Map.of("/id", "resp-rollout-invalidated", "/status", "completed"));
  }
}
