package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Answers in both dialects, case by case: whole, and as a stream that is cut at every byte. */
class AnswersCorpusTest {

  @TestFactory
  Stream<DynamicTest> anthropicAnswers() {
    return tests(Dialect.ANTHROPIC, "anthropic");
  }

  @TestFactory
  Stream<DynamicTest> responsesAnswers() {
    return tests(Dialect.RESPONSES, "responses");
  }

  private static Stream<DynamicTest> tests(Dialect dialect, String key) {
    return Corpus.cases("answers.json").stream()
        .filter(one -> one.get(key) != null || Corpus.list(one.get("broken")).contains(key))
        .map(
            one ->
                DynamicTest.dynamicTest(
                    Corpus.name(one), () -> new Answer(one, dialect, key).check()));
  }

  /** A case says nothing of a dialect only if it uses what that dialect has not. */
  @Test
  void eachCaseIsOfBothDialectsOrHasToolsOfOne() {
    for (Map<String, @Nullable Object> one : Corpus.cases("answers.json")) {
      List<?> broken = Corpus.list(one.get("broken"));
      for (String key : List.of("anthropic", "responses")) {
        boolean said = one.get(key) != null || broken.contains(key);
        boolean hasNoSuchTools =
            key.equals("anthropic")
                && one.get("request-responses") != null
                && !one.containsKey("request");
        assertThat(said || hasNoSuchTools).as("%s, %s", Corpus.name(one), key).isTrue();
      }
    }
  }

  private static final class Answer {
    private final Map<String, @Nullable Object> one;
    private final Dialect dialect;
    private final String key;
    private final TranslatedRequest request;
    private final Map<String, @Nullable Object> message;

    private Answer(Map<String, @Nullable Object> one, Dialect dialect, String key)
        throws Exception {
      this.one = one;
      this.dialect = dialect;
      this.key = key;
      this.request = request();
      String text = Json.write(one.get("message"));
      String renamed = request.tools().changed().keySet().stream().findFirst().orElse("none");
      this.message = Corpus.object(Json.parse(text.replace("@NAME", renamed)));
    }

    private TranslatedRequest request() throws Exception {
      if (dialect == Dialect.ANTHROPIC) {
        Object given = one.get("request");
        Object plain = Map.of("model", "m", "messages", List.of());
        return AnthropicRequests.toChat(given == null ? plain : given, TranslationOptions.DEFAULT);
      }
      Object given = one.get("request-responses");
      Object plain = Map.of("model", "m", "input", "");
      return ResponsesRequests.toChat(given == null ? plain : given, TranslationOptions.DEFAULT);
    }

    private void check() throws Exception {
      boolean broken = Corpus.list(one.get("broken")).contains(key);
      if (broken) {
        assertThatThrownBy(this::whole).isInstanceOf(BrokenAnswerException.class);
      } else {
        Corpus.check(whole(), one.get(key));
      }
      byte[] bytes =
          EngineStream.bytes(
              EngineStream.chunks(
                  message, one.get("finish"), Corpus.object(one.get("choice")), one.get("usage")),
              "\n");
      List<StreamEvent> first = EngineStream.run(bytes, 0, stream());
      if (broken) {
        assertThat(first.getLast().name())
            .isEqualTo(dialect == Dialect.ANTHROPIC ? "error" : "response.failed");
        assertThat(Json.write(first))
            .doesNotContain("\"tool_use\"", "function_call", "custom_tool_call");
      } else {
        Corpus.check(assembled(first), one.get(key));
      }
      // What comes out is a function of the events' data, so it is enough to compare these.
      List<String> datas = EngineStream.datas(bytes, 0);
      for (int cut = 1; cut < bytes.length; cut++) {
        assertThat(EngineStream.datas(bytes, cut)).as("cut at %d", cut).isEqualTo(datas);
      }
      assertThat(EngineStream.run(bytes, bytes.length / 2, stream())).isEqualTo(first);
    }

    private DialectStream stream() {
      return dialect == Dialect.ANTHROPIC
          ? new AnthropicStream(request, Corpus.counting())
          : new ResponsesStream(request, Corpus.counting());
    }

    private Map<String, @Nullable Object> assembled(List<StreamEvent> events) throws Exception {
      return dialect == Dialect.ANTHROPIC
          ? Assembled.anthropic(events)
          : Assembled.responses(events);
    }

    private Map<String, @Nullable Object> whole() throws Exception {
      Map<String, @Nullable Object> choice = new LinkedHashMap<>(Corpus.object(one.get("choice")));
      choice.put("message", message);
      choice.put("finish_reason", one.get("finish"));
      Map<String, @Nullable Object> answer = EngineStream.envelope();
      answer.put("choices", List.of(choice));
      answer.put("usage", one.get("usage"));
      ChatChunk chunk = ChatChunk.ofAnswer(Json.writeBytes(answer));
      return dialect == Dialect.ANTHROPIC
          ? AnthropicAnswers.of(chunk, request, Corpus.counting())
          : ResponsesAnswers.of(chunk, request, Corpus.counting());
    }
  }
}
