package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Streams in both dialects, case by case, with each kind of line end, and cut at every byte. A case
 * has its chunks (<i>delta</i>, <i>finish</i> and <i>usage</i> are short for whole ones) or its
 * bytes, and what each agent has at the end, or how it is told of a failure.
 */
class StreamsCorpusTest {

  @TestFactory
  Stream<DynamicTest> anthropicStreams() {
    return tests(Dialect.ANTHROPIC, "anthropic");
  }

  @TestFactory
  Stream<DynamicTest> responsesStreams() {
    return tests(Dialect.RESPONSES, "responses");
  }

  private static Stream<DynamicTest> tests(Dialect dialect, String key) {
    return Corpus.cases("streams.json").stream()
        .map(one -> DynamicTest.dynamicTest(Corpus.name(one), () -> check(one, dialect, key)));
  }

  private static void check(Map<String, @Nullable Object> one, Dialect dialect, String key)
      throws Exception {
    byte[] bytes = bytes(one);
    List<StreamEvent> events = asRead(EngineStream.run(bytes, 0, stream(dialect)));
    Object failure = Corpus.object(one.get("failed")).get(key);
    if (failure != null) {
      checkFailed(dialect, events, failure);
    } else {
      Map<String, @Nullable Object> assembled =
          dialect == Dialect.ANTHROPIC ? Assembled.anthropic(events) : Assembled.responses(events);
      assertThat(one).containsKey(key);
      Corpus.check(assembled, one.get(key));
    }
    if (one.get("events-" + key) != null) {
      assertThat(events).extracting(StreamEvent::name).isEqualTo(one.get("events-" + key));
    }
    List<String> datas = EngineStream.datas(bytes, 0);
    for (byte[] framed : framings(bytes, one.get("as-it-is") != null)) {
      for (int cut = 0; cut < framed.length; cut++) {
        List<String> again = EngineStream.datas(framed, cut);
        // The events are a function of the datas, so they are made again only where these differ.
        if (!again.equals(datas)) {
          assertThat(asRead(EngineStream.run(framed, cut, stream(dialect))))
              .as("cut at %d", cut)
              .isEqualTo(events);
        }
      }
    }
  }

  /** As they come out of the JSON that goes over the wire. */
  private static List<StreamEvent> asRead(List<StreamEvent> events) {
    return events.stream()
        .map(event -> new StreamEvent(event.name(), Json.object(Json.write(event.data()))))
        .toList();
  }

  /** An error event is the last, and no call has gone out. */
  private static void checkFailed(Dialect dialect, List<StreamEvent> events, Object failure) {
    StreamEvent last = events.getLast();
    if (dialect == Dialect.ANTHROPIC) {
      assertThat(last.name()).isEqualTo("error");
      Corpus.check(last.data(), Map.of("/type", "error", "/error/type", failure));
    } else {
      Assembled.sequence(events);
      assertThat(last.name()).isEqualTo("response.failed");
      Corpus.check(
          last.data(), Map.of("/response/status", "failed", "/response/error/code", failure));
    }
    assertThat(events)
        .extracting(StreamEvent::name)
        .doesNotContain("message_delta", "message_stop", "response.completed");
    assertThat(Json.write(events)).doesNotContain("\"tool_use\"", "function_call");
  }

  private static List<byte[]> framings(byte[] bytes, boolean asItIs) {
    if (asItIs) {
      return List.of(bytes);
    }
    String text = new String(bytes, StandardCharsets.UTF_8);
    return Stream.of("\n", "\r", "\r\n")
        .map(end -> text.replace("\n", end).getBytes(StandardCharsets.UTF_8))
        .toList();
  }

  private static byte[] bytes(Map<String, @Nullable Object> one) {
    if (one.get("raw") instanceof String raw) {
      return raw.getBytes(StandardCharsets.UTF_8);
    }
    StringBuilder text = new StringBuilder();
    for (Object item : Corpus.list(one.get("data"))) {
      String data = item instanceof String verbatim ? verbatim : Json.write(chunk(item));
      text.append("data: ").append(data).append("\n\n");
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static Map<String, @Nullable Object> chunk(Object item) {
    Map<String, @Nullable Object> given = Corpus.object(item);
    if (given.containsKey("delta")) {
      return EngineStream.chunk(Corpus.object(given.get("delta")), null, Map.of());
    }
    return given.containsKey("finish")
        ? EngineStream.chunk(Map.of(), given.get("finish"), Map.of())
        : given;
  }

  static DialectStream stream(Dialect dialect) throws RequestRefusedException {
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
}
