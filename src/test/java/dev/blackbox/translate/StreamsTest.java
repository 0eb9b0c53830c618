package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatStreamEvent;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.SseDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
    return StreamsCorpusTest.stream(dialect);
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

  /** Too long to be cut at every byte; it is read in pieces of an odd size. */
  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void anEventOfTwoMegabytesIsRead(Dialect dialect) throws Exception {
    String text = "é".repeat(1 << 20);
    byte[] bytes =
        ("data: " + delta("{\"content\":\"" + text + "\"}") + "\r\n\r\ndata: " + STOP + "\r\n\r\n")
            .getBytes(StandardCharsets.UTF_8);
    SseDecoder decoder = new SseDecoder(4 << 20);
    DialectStream stream = stream(dialect);
    List<StreamEvent> out = new ArrayList<>();
    for (int start = 0; start < bytes.length; start += 8191) {
      decoder.append(bytes, start, Math.min(8191, bytes.length - start));
      for (SseDecoder.Event event = decoder.next(); event != null; event = decoder.next()) {
        out.addAll(stream.accept(ChatStreamEvent.parse(Objects.requireNonNull(event.data()))));
      }
    }
    out.addAll(stream.end());
    Corpus.check(
        dialect == Dialect.ANTHROPIC ? Assembled.anthropic(out) : Assembled.responses(out),
        Map.of(
            dialect == Dialect.ANTHROPIC ? "/content/0/text" : "/output/0/content/0/text", text));
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
