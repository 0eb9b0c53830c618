package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.blackbox.wire.ChatRequest;
import dev.blackbox.wire.Json;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Requests of both dialects, case by case. */
class RequestsTest {

  @FunctionalInterface
  private interface Translator {
    TranslatedRequest toChat(@Nullable Object tree, TranslationOptions options)
        throws RequestRefusedException;
  }

  @TestFactory
  Stream<DynamicTest> anthropicRequests() {
    return Corpus.cases("requests-anthropic.json").stream()
        .map(
            one ->
                DynamicTest.dynamicTest(
                    Corpus.name(one),
                    () -> check(one, Dialect.ANTHROPIC, AnthropicRequests::toChat)));
  }

  @TestFactory
  Stream<DynamicTest> responsesRequests() {
    return Corpus.cases("requests-responses.json").stream()
        .map(
            one ->
                DynamicTest.dynamicTest(
                    Corpus.name(one),
                    () -> check(one, Dialect.RESPONSES, ResponsesRequests::toChat)));
  }

  private static void check(
      Map<String, @Nullable Object> one, Dialect dialect, Translator translator) throws Exception {
    TranslationOptions options = Corpus.options(one);
    if (one.get("refused") instanceof String where) {
      RequestRefusedException refused =
          catchThrowableOfType(
              RequestRefusedException.class, () -> translator.toChat(one.get("in"), options));
      assertThat(refused).isNotNull();
      assertThat(refused.where()).isEqualTo(where);
      DialectErrors.Answer answer = DialectErrors.refusal(dialect, refused);
      assertThat(answer.status()).isEqualTo(400);
      assertThat(Json.write(answer.tree())).contains("invalid_request_error").contains(where);
      return;
    }
    String before = Json.write(one.get("in"));
    TranslatedRequest translated = translator.toChat(one.get("in"), options);
    Corpus.check(translated.chat(), one.get("expect"));
    Corpus.checkAbsent(translated.chat(), one.get("absent"));
    if (one.get("dropped") != null) {
      assertThat(translated.dropped()).isEqualTo(one.get("dropped"));
    }
    assertThat(Json.write(one.get("in"))).isEqualTo(before);
    assertThat(ChatRequest.read(Json.writeBytes(translated.chat())).model()).isEqualTo("m");
  }

  @Test
  void whatIsNoObjectIsRefused() {
    for (Object tree : new @Nullable Object[] {null, "x", 7}) {
      assertThat(
              catchThrowableOfType(
                      RequestRefusedException.class,
                      () -> AnthropicRequests.toChat(tree, TranslationOptions.DEFAULT))
                  .text())
          .isEqualTo("body: must be an object");
    }
  }

  @Test
  void thinkingBudgetsBecomeEfforts() throws Exception {
    for (Map.Entry<Integer, String> point :
        Map.of(1024, "low", 4999, "low", 5000, "medium", 9999, "medium", 10000, "high")
            .entrySet()) {
      Map<String, Object> thinking = Map.of("type", "enabled", "budget_tokens", point.getKey());
      Map<String, Object> request =
          Map.of("model", "m", "messages", java.util.List.of(), "thinking", thinking);
      assertThat(AnthropicRequests.toChat(request, TranslationOptions.DEFAULT).chat())
          .containsEntry("reasoning_effort", point.getValue());
    }
  }

  /** The first two points are the reference bridge's. */
  @Test
  void tokensAreCounted() throws Exception {
    assertThat(count("{\"messages\":[{\"role\":\"user\",\"content\":\"1234567890123456\"}]}"))
        .isEqualTo(4);
    assertThat(count("{}")).isEqualTo(1);
    assertThat(
            count(
                "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":"
                    + "{\"type\":\"base64\",\"data\":\"AAAA\"}}]}]}"))
        .isEqualTo(1600);
    assertThat(count("{\"tools\":[{\"name\":\"" + "x".repeat(400) + "\"}]}")).isGreaterThan(100);
    assertThat(
            count(
                "{\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\","
                    + "\"input\":{\"a\":\""
                    + "x".repeat(400)
                    + "\"}}]}]}"))
        .isGreaterThan(100);
  }

  private static long count(String request) throws Exception {
    Map<String, @Nullable Object> answer = AnthropicTokens.countTokens(Json.parse(request));
    assertThat(answer).containsOnlyKeys("input_tokens");
    return ((Number) answer.getOrDefault("input_tokens", -1)).longValue();
  }
}
