package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import dev.blackbox.proxy.SdkProgram.Outcome;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the official Anthropic SDK gives to its user, through the proxy. */
@Tag("agents")
@Timeout(300)
class AnthropicSdkTest {

  private SdkStage stage;

  @BeforeAll
  static void isInstalled() {
    SdkProgram.needs("@anthropic-ai/sdk");
  }

  @BeforeEach
  void start() {
    stage = new SdkStage("sdk-anthropic.mjs");
  }

  @AfterEach
  void stop() {
    stage.close();
  }

  @Test
  void aPlainAnswer() throws Exception {
    Outcome got = stage.run("plain");
    assertThat(got.at("result.content.0.text")).isEqualTo(SdkStage.SAID);
    assertThat(got.at("result.stop_reason")).isEqualTo("end_turn");
    CallSink.CallEnded record = stage.rig.sink.onlyEnd();
    assertThat(record.verdict()).isEqualTo("ok");
    assertThat(got.number("result.usage.output_tokens"))
        .isEqualTo(record.completionTokens().orElseThrow());
    assertThat(got.number("result.usage.input_tokens"))
        .isEqualTo(record.promptTokens().orElseThrow());
  }

  @Test
  void aStream() throws Exception {
    stage.says(Step.of(new Part.Reasoning("hm"), new Part.Text(SdkStage.SAID)));
    Outcome got = stage.run("stream");
    assertThat(got.at("result.text")).isEqualTo(SdkStage.SAID);
    assertThat(got.at("result.message.content.0.thinking")).isEqualTo("hm");
    assertThat(got.at("result.message.content.0.signature")).asString().isNotEmpty();
    assertThat(got.at("result.message.content.1.text")).isEqualTo(SdkStage.SAID);
    assertThat(got.at("result.message.stop_reason")).isEqualTo("end_turn");
    List<?> events = got.list("result.events");
    assertThat(events.getFirst()).isEqualTo("message_start");
    assertThat(events.getLast()).isEqualTo("message_stop");
    assertThat(events.stream().filter("content_block_delta"::equals).count()).isGreaterThan(3);
    assertThat(got.number("result.message.usage.output_tokens"))
        .isEqualTo(stage.rig.sink.onlyEnd().completionTokens().orElseThrow());
  }

  @Test
  void toolsInParallelAndTheirResults() throws Exception {
    stage.saysTwoCalls(new Part.Text("I look."));
    Outcome got = stage.run("tools");
    assertThat(got.at("result.first.message.stop_reason")).isEqualTo("tool_use");
    assertThat(got.at("result.first.message.content.0.text")).isEqualTo("I look.");
    assertThat(got.at("result.first.message.content.1.input")).isEqualTo(Map.of("city", "Oslo"));
    assertThat(got.at("result.first.message.content.2.input")).isEqualTo(Map.of("city", "Rome"));
    assertThat(got.at("result.second.content.0.text")).isEqualTo(SdkStage.SAID);
    String second = stage.rig.engine.chatRequests().getLast().bodyText();
    assertThat(second).contains("sunny in Oslo", "sunny in Rome");
    assertThat(second).contains(String.valueOf(got.at("result.first.message.content.2.id")));
    assertThat(stage.turn.totals().steps()).isEqualTo(2);
  }

  @Test
  void tokensAreCountedAndModelsListed() throws Exception {
    assertThat(stage.run("count").at("result.input_tokens")).isEqualTo(100);
    assertThat(stage.run("models").at("result")).isEqualTo(List.of("scripted"));
    assertThat(stage.turn.totals().steps()).isZero();
  }

  /** Fault, the class that the SDK throws, its status, the type and a word of the message. */
  private static Stream<Arguments> errors() {
    return Stream.of(
        error(400, "no such thing", "BadRequestError", 400, "invalid_request_error", "no such"),
        error(401, "secret", "PermissionDeniedError", 403, "permission_error", "403"),
        error(404, "no model", "BadRequestError", 400, "invalid_request_error", "no model"),
        error(429, "slow down", "BadRequestError", 400, "upstream_error", "slow down"),
        error(500, "boom", "BadRequestError", 400, "upstream_error", "boom"),
        error(503, "boom", "BadRequestError", 400, "upstream_error", "boom"),
        error(
            400,
            "This model's maximum context length is 10 tokens. However, your messages resulted in"
                + " 20 tokens.",
            "BadRequestError",
            400,
            "invalid_request_error",
            "prompt is too long: 20 tokens > 10 maximum"));
  }

  private static Arguments error(
      int status, String says, String errorClass, int seen, String type, String message) {
    Fault fault = Fault.Instead.error(status, "{\"error\":{\"message\":\"" + says + "\"}}");
    return Arguments.of(fault, errorClass, seen, type, message);
  }

  /** The SDK would try four times more; what the proxy says keeps it from that. */
  @ParameterizedTest
  @MethodSource("errors")
  void anErrorIsThrownAndNotTriedAgain(
      Fault fault, String errorClass, int status, String type, String message) throws Exception {
    stage.says(SdkStage.STEP.with(fault));
    for (String scenario : List.of("plainWith", "streamWith")) {
      Outcome got = stage.run(scenario, "4").threw(errorClass, status);
      assertThat(got.at("error.type")).isEqualTo(type);
      assertThat(got.at("error.message")).asString().contains(message);
      assertThat(got.number("asked")).isEqualTo(1);
    }
  }

  @Test
  void refusalsOfTheProxyAreThrownAndNotTriedAgain() throws Exception {
    stage.checkRefusals("4");
    try (SdkProgram stranger =
        SdkProgram.start(stage.rig.proxy.port(), "wrong", "sdk-anthropic.mjs", "plain")) {
      stranger.outcome().threw("PermissionDeniedError", 403);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"error frame", "cut", "no finish reason", "bad tool"})
  void aBrokenStreamIsThrownAndNeverAMessage(String what) throws Exception {
    stage.breaksOff(what);
    Outcome got = stage.run("streamWith", "4").threw("APIError", 0);
    assertThat(got.at("error.type")).isEqualTo("api_error");
    assertThat(got.number("asked")).isEqualTo(1);
    assertThat(stage.turn.verdict()).containsInstanceOf(Verdict.UpstreamFailed.class);
  }

  @Test
  void theSdksOwnRetrySucceedsOnceTheProxyIsBound() throws Exception {
    Outcome got = stage.retriedOnceBound("plainWith", "8");
    assertThat(got.at("result.content.0.text")).isEqualTo(SdkStage.SAID);
  }

  @Test
  void aTimeoutIsThrownAndTheEngineLetGo() throws Exception {
    stage.says(SdkStage.STEP.withDelayBeforeFirst(SdkStage.LONG));
    try (SdkProgram program = stage.start("timeout", "700", "0")) {
      program.outcome().threw("APIConnectionTimeoutError", 0);
      stage.checkLetGo();
    }
  }

  @Test
  void anAbortIsThrownAndTheEngineLetGo() throws Exception {
    stage.says(SdkStage.STEP.with(new Fault.Stall(3, SdkStage.LONG)));
    try (SdkProgram program = stage.start("abort")) {
      program.outcome().threw("APIUserAbortError", 0);
      stage.checkLetGo();
    }
  }
}
