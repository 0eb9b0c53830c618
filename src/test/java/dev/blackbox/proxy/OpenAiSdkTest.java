package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.Fault;
import dev.blackbox.proxy.SdkProgram.Outcome;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the official OpenAI SDK gives to its user, through the proxy, with both of its APIs. */
@Tag("agents")
@Timeout(300)
class OpenAiSdkTest {

  private SdkStage stage;

  @BeforeAll
  static void isInstalled() {
    SdkProgram.needs("openai");
  }

  @BeforeEach
  void start() {
    stage = new SdkStage("sdk-openai.mjs");
  }

  @AfterEach
  void stop() {
    stage.close();
  }

  /** Text of a whole answer, at a path of the outcome. */
  private static Object text(String api, Outcome got, String path) {
    return got.at(
        path + (api.equals("chat") ? ".choices.0.message.content" : ".output.0.content.0.text"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void aPlainAnswer(String api) throws Exception {
    Outcome got = stage.run("plain", api);
    assertThat(text(api, got, "result")).isEqualTo(SdkStage.SAID);
    CallSink.CallEnded record = stage.rig.sink.onlyEnd();
    assertThat(record.verdict()).isEqualTo("ok");
    assertThat(got.number("result.usage.total_tokens"))
        .isEqualTo(record.promptTokens().orElseThrow() + record.completionTokens().orElseThrow());
    if (api.equals("responses")) {
      assertThat(got.at("result.output_text")).isEqualTo(SdkStage.SAID);
      assertThat(got.at("result.status")).isEqualTo("completed");
    } else {
      assertThat(got.at("result.choices.0.finish_reason")).isEqualTo("stop");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void aStream(String api) throws Exception {
    Outcome got = stage.run("stream", api);
    assertThat(got.at("result.text")).isEqualTo(SdkStage.SAID);
    assertThat(text(api, got, "result.answer")).isEqualTo(SdkStage.SAID);
    assertThat(got.list("result.events")).hasSizeGreaterThan(5);
    assertThat(got.number("result.answer.usage.total_tokens")).isPositive();
    if (api.equals("responses")) {
      List<?> numbers = got.list("result.numbers");
      assertThat(numbers).isEqualTo(IntStream.range(0, numbers.size()).boxed().toList());
      assertThat(got.list("result.events").getFirst()).isEqualTo("response.created");
      assertThat(got.list("result.events").getLast()).isEqualTo("response.completed");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void toolsInParallelAndTheirResults(String api) throws Exception {
    stage.saysTwoCalls();
    Outcome got = stage.run("tools", api);
    String calls =
        "result.first.answer." + (api.equals("chat") ? "choices.0.message.tool_calls" : "output");
    for (int i = 0; i < 2; i++) {
      String function = calls + "." + i + (api.equals("chat") ? ".function" : "");
      assertThat(got.at(function + ".name")).isEqualTo("weather");
      assertThat(got.at(function + ".arguments"))
          .isEqualTo("{\"city\":\"" + (i == 0 ? "Oslo" : "Rome") + "\"}");
      assertThat(stage.rig.engine.chatRequests().getLast().bodyText())
          .contains(
              String.valueOf(got.at(calls + "." + i + (api.equals("chat") ? ".id" : ".call_id"))));
    }
    assertThat(text(api, got, "result.second")).isEqualTo(SdkStage.SAID);
    assertThat(stage.rig.engine.chatRequests().getLast().bodyText())
        .contains("sunny in Oslo", "sunny in Rome");
    assertThat(stage.turn.totals().steps()).isEqualTo(2);
  }

  @Test
  void modelsAreListed() throws Exception {
    assertThat(stage.run("models").at("result")).isEqualTo(List.of("scripted"));
    assertThat(stage.turn.totals().steps()).isZero();
  }

  /** Engine's status, then what the SDK throws; chat completions pass as they are. */
  @ParameterizedTest
  @CsvSource({
    "400, chat, BadRequestError, 400",
    "400, responses, BadRequestError, 400",
    "401, chat, AuthenticationError, 401",
    "401, responses, BadRequestError, 400",
    "404, chat, NotFoundError, 404",
    "404, responses, BadRequestError, 400",
    "429, chat, RateLimitError, 429",
    "429, responses, BadRequestError, 400",
    "500, chat, InternalServerError, 500",
    "500, responses, BadRequestError, 400",
    "503, chat, InternalServerError, 503",
    "503, responses, BadRequestError, 400"
  })
  void anErrorIsThrown(int status, String api, String errorClass, int seen) throws Exception {
    Fault fault = Fault.Instead.error(status, "{\"error\":{\"message\":\"boom\"}}");
    stage.says(SdkStage.STEP.with(fault));
    // In translated dialects the proxy keeps the SDK from trying again.
    String retries = api.equals("chat") ? "0" : "4";
    for (String scenario : List.of("plainWith", "streamWith")) {
      Outcome got = stage.run(scenario, api, retries).threw(errorClass, seen);
      if (status != 401) {
        assertThat(got.at("error.message")).asString().contains("boom");
      }
      assertThat(got.number("asked")).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void anOverflowHasItsCode(String api) throws Exception {
    String says =
        "{\"error\":{\"message\":\"This model's maximum context length is 10 tokens. However, your"
            + " messages resulted in 20 tokens.\",\"type\":\"invalid_request_error\","
            + "\"code\":\"context_length_exceeded\"}}";
    stage.says(SdkStage.STEP.with(Fault.Instead.error(400, says)));
    Outcome got = stage.run("streamWith", api, "4").threw("BadRequestError", 400);
    assertThat(got.at("error.code")).isEqualTo("context_length_exceeded");
    assertThat(stage.turn.verdict()).containsInstanceOf(Verdict.ContextOverflow.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void refusalsOfTheProxyAreThrownAndNotTriedAgain(String api) throws Exception {
    stage.checkRefusals(api, "4");
  }

  @ParameterizedTest
  @CsvSource({
    "chat, error frame",
    "chat, cut",
    "chat, no finish reason",
    "responses, error frame",
    "responses, cut",
    "responses, no finish reason",
    "responses, bad tool"
  })
  void aBrokenStreamIsNeverAnAnswer(String api, String what) throws Exception {
    stage.breaksOff(what);
    Outcome got = stage.run("streamWith", api, "4");
    if (api.equals("chat")) {
      got.threw("APIError", 0);
    } else {
      // This API tells of a failure by an event, and the SDK gives the failed response.
      assertThat(got.list("result.events").getLast()).isEqualTo("response.failed");
      assertThat(got.at("result.answer.status")).isEqualTo("failed");
      assertThat(got.at("result.answer.error.code")).isEqualTo("server_error");
    }
    assertThat(got.number("asked")).isEqualTo(1);
    assertThat(stage.turn.verdict()).containsInstanceOf(Verdict.UpstreamFailed.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void theSdksOwnRetrySucceedsOnceTheProxyIsBound(String api) throws Exception {
    Outcome got = stage.retriedOnceBound("plainWith", api, "8");
    assertThat(text(api, got, "result")).isEqualTo(SdkStage.SAID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void aTimeoutIsThrownAndTheEngineLetGo(String api) throws Exception {
    stage.says(SdkStage.STEP.withDelayBeforeFirst(SdkStage.LONG));
    try (SdkProgram program = stage.start("timeout", api, "700", "0")) {
      program.outcome().threw("APIConnectionTimeoutError", 0);
      stage.checkLetGo();
    }
  }

  /** The SDK ends the iteration of an aborted stream without throwing. */
  @ParameterizedTest
  @ValueSource(strings = {"chat", "responses"})
  void anAbortEndsTheStreamAndTheEngineIsLetGo(String api) throws Exception {
    stage.says(SdkStage.STEP.with(new Fault.Stall(3, SdkStage.LONG)));
    try (SdkProgram program = stage.start("abort", api)) {
      assertThat(program.outcome().number("result")).isPositive();
      stage.checkLetGo();
    }
  }
}
