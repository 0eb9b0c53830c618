package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What engines' errors mean, source by source, and how each agent is told. */
class EngineErrorsTest {

  @TestFactory
  Stream<DynamicTest> errorsOfEngines() {
    return Corpus.cases("engine-errors.json").stream()
        .map(one -> DynamicTest.dynamicTest(Corpus.name(one), () -> check(one)));
  }

  private static void check(Map<String, @Nullable Object> one) {
    boolean inStream = one.get("frame") != null;
    int status = one.get("status") instanceof Integer given ? given : 0;
    byte[] body = Json.writeBytes(one.get("body"));
    Map<String, @Nullable Object> frame = Corpus.object(one.get("frame"));
    AgentFailure failure =
        inStream ? EngineErrors.failureOf(frame) : EngineErrors.failureOf(status, body);
    EngineError meaning =
        inStream ? EngineErrors.ofFrame(frame) : EngineErrors.ofAnswer(status, body);
    assertThat(failure.errorClass().name()).isEqualTo(one.get("class"));
    if (one.get("details") != null) {
      assertThat(Json.object(Json.write(failure.details()))).isEqualTo(one.get("details"));
    }
    if (one.get("allowed") instanceof Integer allowed) {
      assertThat(failure.maxTokensAllowed()).hasValue(allowed);
    }
    switch (failure.errorClass()) {
      case CONTEXT_OVERFLOW -> assertThat(meaning).isInstanceOf(EngineError.ContextOverflow.class);
      case INVALIDATED -> assertThat(meaning).isInstanceOf(EngineError.Invalidated.class);
      default -> assertThat(meaning).isInstanceOf(EngineError.Other.class);
    }
    assertThat(failure.message()).doesNotContain("sk-secret");
  }

  @Test
  void htmlIsAFailureToo() {
    byte[] html = "<html>Bad gateway</html>".getBytes(StandardCharsets.UTF_8);
    AgentFailure failure = EngineErrors.failureOf(502, html);
    assertThat(failure.errorClass()).isEqualTo(ErrorClass.TRANSPORT);
    assertThat(failure.message()).isEqualTo("Upstream returned HTTP 502: <html>Bad gateway</html>");
  }

  /** Statuses at which Claude Code, Codex and opencode do not come again. */
  @ParameterizedTest
  @EnumSource(Dialect.class)
  void whatIsFinalIsNotRetried(Dialect dialect) {
    for (ErrorClass errorClass : ErrorClass.values()) {
      DialectErrors.Answer answer =
          DialectErrors.answer(dialect, AgentFailure.of(errorClass, "x"), false);
      assertThat(answer.headers()).containsEntry("x-should-retry", "false");
      if (errorClass == ErrorClass.STEP_BUDGET) {
        assertThat(answer.status()).isEqualTo(429);
        boolean anthropic = dialect == Dialect.ANTHROPIC;
        // Claude Code gives up at a long wait, Codex at none.
        assertThat(answer.headers().containsKey("retry-after")).isEqualTo(anthropic);
      } else if (errorClass == ErrorClass.AUTHENTICATION) {
        assertThat(answer.status())
            .isEqualTo(
                Map.of(Dialect.CHAT, 401, Dialect.ANTHROPIC, 403, Dialect.RESPONSES, 400)
                    .get(dialect));
      } else {
        assertThat(answer.status()).as(errorClass.name()).isEqualTo(400);
      }
    }
  }

  @Test
  void whatIsTransientSaysWhenToComeAgain() {
    AgentFailure busy = AgentFailure.of(ErrorClass.RATE_LIMIT, "busy").retryAfter(7);
    for (Dialect dialect : Dialect.values()) {
      DialectErrors.Answer answer = DialectErrors.answer(dialect, busy, true);
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.headers()).containsEntry("retry-after", "7");
    }
    assertThat(statuses(ErrorClass.OVERLOAD)).isEqualTo(List.of(503, 529, 429));
    assertThat(statuses(ErrorClass.TRANSPORT)).isEqualTo(List.of(502, 502, 502));
    assertThat(statuses(ErrorClass.ENGINE)).isEqualTo(List.of(500, 500, 500));
  }

  private static List<Integer> statuses(ErrorClass errorClass) {
    return Stream.of(Dialect.values())
        .map(d -> DialectErrors.answer(d, AgentFailure.of(errorClass, "x"), true).status())
        .toList();
  }

  @Test
  void overflowIsSaidSoThatAgentsCompact() {
    byte[] body =
        ("{\"message\":\"The input (5000 tokens) is longer than the model's context length"
                + " (4096 tokens).\"}")
            .getBytes(StandardCharsets.UTF_8);
    AgentFailure overflow = EngineErrors.failureOf(400, body);
    DialectErrors.Answer claude = DialectErrors.answer(Dialect.ANTHROPIC, overflow, true);
    assertThat(claude.status()).isEqualTo(400);
    assertThat(claude.tree()).containsEntry("type", "error");
    Corpus.check(
        claude.tree(),
        Map.of(
            "/error/type",
            "invalid_request_error",
            "/error/message",
            "prompt is too long: 5000 tokens > 4096 maximum"));
    DialectErrors.Answer codex = DialectErrors.answer(Dialect.RESPONSES, overflow, true);
    assertThat(codex.status()).isEqualTo(400);
    Corpus.check(codex.tree(), Map.of("/error/code", "context_length_exceeded"));
    assertThat(Json.write(Json.object(new String(codex.body(), StandardCharsets.UTF_8))))
        .isEqualTo(Json.write(codex.tree()));
  }

  @Test
  void tooLongAnOutputIsSaidSoThatClaudeAsksForLess() {
    byte[] body =
        ("{\"error\":{\"message\":\"max_tokens is too large: 9. This model supports at most 5"
                + " completion tokens\"}}")
            .getBytes(StandardCharsets.UTF_8);
    AgentFailure failure = EngineErrors.failureOf(400, body);
    Corpus.check(
        DialectErrors.answer(Dialect.ANTHROPIC, failure, true).tree(),
        Map.of(
            "/error/message",
            "max_tokens: 9 > 5, which is the maximum allowed number of output tokens"));
  }
}
