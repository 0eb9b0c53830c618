package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import dev.blackbox.proxy.SdkProgram.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
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

  private static final String PROGRAM = "sdk-anthropic.mjs";
  private static final String SAID = "a longer answer in several events";
  private static final Step STEP = Step.text(SAID);
  private static final Duration LONG = Duration.ofSeconds(60);

  /** The promise is one second; the rest is for a busy machine. */
  private static final Duration PROMPTLY = Duration.ofMillis(1500);

  private ProxyRig rig;
  private TurnScope turn;

  @BeforeAll
  static void isInstalled() {
    SdkProgram.needs("@anthropic-ai/sdk");
  }

  @BeforeEach
  void start() {
    rig =
        new ProxyRig(
            new ProxyConfig(0, 1 << 20, 1 << 20, 16, LONG, LONG, LONG), EngineScript.always(STEP));
    turn = rig.openTurn("t1");
  }

  @AfterEach
  void stop() {
    turn.close();
    rig.close();
  }

  private Outcome run(String... arguments) throws IOException {
    return SdkProgram.run(rig, PROGRAM, arguments);
  }

  @Test
  void aPlainAnswer() throws Exception {
    Outcome got = run("plain");
    assertThat(got.at("result.content.0.text")).isEqualTo(SAID);
    assertThat(got.at("result.stop_reason")).isEqualTo("end_turn");
    CallSink.CallEnded record = rig.sink.onlyEnd();
    assertThat(record.verdict()).isEqualTo("ok");
    assertThat(got.number("result.usage.output_tokens"))
        .isEqualTo(record.completionTokens().orElseThrow());
    assertThat(got.number("result.usage.input_tokens"))
        .isEqualTo(record.promptTokens().orElseThrow());
  }

  @Test
  void aStream() throws Exception {
    rig.engine.script(EngineScript.always(Step.of(new Part.Reasoning("hm"), new Part.Text(SAID))));
    Outcome got = run("stream");
    assertThat(got.at("result.text")).isEqualTo(SAID);
    assertThat(got.at("result.message.content.0.thinking")).isEqualTo("hm");
    assertThat(got.at("result.message.content.0.signature")).asString().isNotEmpty();
    assertThat(got.at("result.message.content.1.text")).isEqualTo(SAID);
    assertThat(got.at("result.message.stop_reason")).isEqualTo("end_turn");
    List<?> events = got.list("result.events");
    assertThat(events.getFirst()).isEqualTo("message_start");
    assertThat(events.getLast()).isEqualTo("message_stop");
    assertThat(events.stream().filter("content_block_delta"::equals).count()).isGreaterThan(3);
    assertThat(got.number("result.message.usage.output_tokens"))
        .isEqualTo(rig.sink.onlyEnd().completionTokens().orElseThrow());
  }

  @Test
  void toolsInParallelAndTheirResults() throws Exception {
    rig.engine.script(
        EngineScript.always(
            Step.of(
                new Part.Text("I look."),
                new Part.ToolCall("weather", "{\"city\":\"Oslo\"}"),
                new Part.ToolCall("weather", "{\"city\":\"Rome\"}")),
            STEP));
    Outcome got = run("tools");
    assertThat(got.at("result.first.message.stop_reason")).isEqualTo("tool_use");
    assertThat(got.at("result.first.message.content.0.text")).isEqualTo("I look.");
    assertThat(got.at("result.first.message.content.1.input")).isEqualTo(Map.of("city", "Oslo"));
    assertThat(got.at("result.first.message.content.2.input")).isEqualTo(Map.of("city", "Rome"));
    assertThat(got.at("result.second.content.0.text")).isEqualTo(SAID);
    String second = rig.engine.chatRequests().getLast().bodyText();
    assertThat(second).contains("sunny in Oslo", "sunny in Rome");
    assertThat(second).contains(String.valueOf(got.at("result.first.message.content.2.id")));
    assertThat(turn.totals().steps()).isEqualTo(2);
  }

  @Test
  void tokensAreCountedAndModelsListed() throws Exception {
    assertThat(run("count").at("result.input_tokens")).isEqualTo(100);
    assertThat(run("models").at("result")).isEqualTo(List.of("scripted"));
    assertThat(turn.totals().steps()).isZero();
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
    rig.engine.script(EngineScript.always(STEP.with(fault)));
    for (String scenario : List.of("plainWith", "streamWith")) {
      Outcome got = run(scenario, "4").threw(errorClass, status);
      assertThat(got.at("error.type")).isEqualTo(type);
      assertThat(got.at("error.message")).asString().contains(message);
      assertThat(got.number("asked")).isEqualTo(1);
    }
  }

  @Test
  void refusalsOfTheProxyAreThrownAndNotTriedAgain() throws Exception {
    turn.close();
    run("plainWith", "4").threw("BadRequestError", 400);
    rig.proxy.bind(rig.binding(steps(1)));
    turn = rig.openTurn("t2");
    run("plainWith", "4");
    Outcome beyond = run("streamWith", "4").threw("RateLimitError", 429);
    assertThat(beyond.number("asked")).isEqualTo(1);
    try (SdkProgram stranger = SdkProgram.start(rig.proxy.port(), "wrong", PROGRAM, "plain")) {
      stranger.outcome().threw("PermissionDeniedError", 403);
    }
  }

  private static ProxyOptions steps(int max) {
    return new ProxyOptions(
        ProxyOptions.DEFAULTS.stickyHeaderName(), OptionalInt.of(max), OptionalDouble.empty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"error frame", "cut", "no finish reason", "bad tool"})
  void aBrokenStreamIsThrownAndNeverAMessage(String what) throws Exception {
    rig.engine.script(
        EngineScript.always(
            switch (what) {
              case "cut" -> STEP.with(new Fault.CutAfterEvents(3, false));
              case "no finish reason" -> STEP.with(new Fault.NoFinishReason());
              case "bad tool" ->
                  Step.of(new Part.Text(SAID), new Part.ToolCall("weather", "{\"city\": "));
              default -> STEP.with(Fault.InsertAfterEvents.errorFrame(3, "{\"message\":\"boom\"}"));
            }));
    Outcome got = run("streamWith", "4").threw("APIError", 0);
    assertThat(got.at("error.type")).isEqualTo("api_error");
    assertThat(got.number("asked")).isEqualTo(1);
    assertThat(turn.verdict()).containsInstanceOf(Verdict.UpstreamFailed.class);
  }

  @Test
  void theSdksOwnRetrySucceedsOnceTheProxyIsBound() throws Exception {
    turn.close();
    rig.proxy.unbind();
    try (SdkProgram program = SdkProgram.start(rig, PROGRAM, "plainWith", "8")) {
      await().atMost(LONG).until(() -> !rig.sink.refused().isEmpty());
      rig.proxy.bind(rig.binding(ProxyOptions.DEFAULTS));
      turn = rig.openTurn("t2");
      Outcome got = program.outcome();
      assertThat(got.at("result.content.0.text")).isEqualTo(SAID);
      assertThat(got.list("retryCounts").subList(0, 2)).isEqualTo(List.of("0", "1"));
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
  }

  @Test
  void aTimeoutIsThrownAndTheEngineLetGo() throws Exception {
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(LONG)));
    try (SdkProgram program = SdkProgram.start(rig, PROGRAM, "timeout", "700", "0")) {
      program.outcome().threw("APIConnectionTimeoutError", 0);
      assertLetGo();
    }
  }

  @Test
  void anAbortIsThrownAndTheEngineLetGo() throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(3, LONG))));
    try (SdkProgram program = SdkProgram.start(rig, PROGRAM, "abort")) {
      program.outcome().threw("APIUserAbortError", 0);
      assertLetGo();
    }
  }

  private void assertLetGo() {
    await().atMost(PROMPTLY).until(() -> rig.engine.disconnects() == 1);
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
    assertThat(turn.verdict()).isEmpty();
  }
}
