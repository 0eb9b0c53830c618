package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.EngineRequest;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.EngineUsage;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes through, what is put on, what is taken off, and what is turned away. */
class ModelProxyTest {

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(Step.text("hello there")));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  @Test
  void plainAnswerPassesAndIsRecorded() throws IOException {
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.plainBody("hi"));

      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.headers()).containsEntry("content-type", "application/json");
      assertThat(answer.body()).contains("hello there");
      CallSink.CallEnded end = rig.sink.onlyEnd();
      EngineUsage usage = rig.engine.usageReported();
      assertThat(end.verdict()).isEqualTo("ok");
      assertThat(end.status()).isEqualTo(200);
      assertThat(end.turn()).isEqualTo(turn.key());
      assertThat(end.promptTokens()).hasValue(usage.promptTokens());
      assertThat(end.completionTokens()).hasValue(usage.completionTokens());
      assertThat(end.reasoningTokens()).hasValue(0);
      assertThat(end.cachedTokens()).hasValue(usage.cachedTokens());
      assertThat(end.finishReason()).hasValue("stop");
      assertThat(end.firstByteAt()).isPresent();
      assertThat(end.responseBytes()).isEqualTo(answer.body().length());
      assertThat(turn.totals().steps()).isEqualTo(1);
      assertThat(turn.totals().promptTokens()).isEqualTo(usage.promptTokens());
      assertThat(turn.verdict()).isEmpty();
      CallSink.CallStarted started = rig.sink.started().getFirst();
      assertThat(started.step()).isZero();
      assertThat(started.model()).isEqualTo("m-1");
      assertThat(started.stream()).isFalse();
      assertThat(started.requestBytes()).isEqualTo(ProxyRig.plainBody("hi").length());
    }
  }

  @Test
  void streamPassesWithUsageThoughNotAskedFor() throws IOException {
    rig.engine.script(
        EngineScript.always(
            Step.of(
                new Part.Reasoning("let me think about it"),
                new Part.Text("naïve 🦜 answer"),
                new Part.ToolCall("bash", "{\"command\":\"ls\"}"),
                new Part.ToolCall("read", "{\"path\":\"a\"}"))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("hi"));

      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.ended()).isTrue();
      assertThat(answer.headers().get("content-type")).startsWith("text/event-stream");
      assertThat(answer.headers()).containsEntry("x-accel-buffering", "no");
      assertThat(answer.body()).contains("\"usage\":{").endsWith("data: [DONE]\n\n");
      CallSink.CallEnded end = rig.sink.onlyEnd();
      EngineUsage usage = rig.engine.usageReported();
      assertThat(end.verdict()).isEqualTo("ok");
      assertThat(end.toolCalls()).isEqualTo(2);
      assertThat(end.finishReason()).hasValue("tool_calls");
      assertThat(end.reasoningTokens()).hasValue(usage.reasoningTokens());
      assertThat(usage.reasoningTokens()).isPositive();
      assertThat(turn.totals().toolCalls()).isEqualTo(2);
      assertThat(turn.totals().completionTokens()).isEqualTo(usage.completionTokens());
    }
  }

  /** A delayed acknowledgement takes 40 ms, each time. */
  @Test
  void answersDoNotWaitForAcknowledgements() throws IOException {
    long shortestNanos = Long.MAX_VALUE;
    rig.engine.script(EngineScript.always(Step.text("x".repeat(8000))));
    try (TurnScope _ = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      for (int i = 0; i < 30; i++) {
        long before = System.nanoTime();
        ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
        assertThat(agent.answer().ended()).isTrue();
        long took = System.nanoTime() - before;
        shortestNanos = i < 10 ? shortestNanos : Math.min(shortestNanos, took);
      }
    }
    assertThat(Duration.ofNanos(shortestNanos)).isLessThan(Duration.ofMillis(30));
  }

  @Test
  void usageThatWasNotReportedIsNotZero() throws IOException {
    rig.engine.script(EngineScript.always(Step.text("x").with(new Fault.NoUsage())));
    try (TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody("hi")).status()).isEqualTo(200);
      assertThat(rig.sink.onlyEnd().tokensEstimated()).isTrue();
      assertThat(rig.sink.onlyEnd().cachedTokens()).isEqualTo(OptionalLong.empty());
    }
  }

  @Test
  void p8NamesAreTheBindingsWhateverTheAgentClaims() throws IOException {
    rig.proxy.release(Optional.of("v-42"));
    try (TurnScope _ = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      agent.send(
          "POST",
          "/v1/chat/completions",
          ProxyRig.plainBody("hi").getBytes(StandardCharsets.UTF_8),
          "authorization: Bearer " + ProxyRig.KEY,
          "Content-Type: application/json",
          "X-Session-Id: other",
          "X-Turn-Id: other",
          "x-instance-id: other",
          "X-SMG-Routing-Key: other",
          "X-Dressage-Expected-Version: v-0",
          "X-Dressage-Sandbox-Id: other",
          "Cookie: a=b",
          "Proxy-Authorization: Basic abc",
          "TE: trailers",
          "x-api-key: something",
          "Accept-Encoding: gzip",
          "x-session-affinity: other",
          "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "User-Agent: opencode/1.0");
      assertThat(agent.answer().status()).isEqualTo(200);
    }
    EngineRequest got = rig.engine.chatRequests().getFirst();
    assertThat(got.path()).isEqualTo("/v1/chat/completions");
    assertThat(got.headers().keySet())
        .containsExactlyInAnyOrder(
            "host",
            "content-length",
            "content-type",
            "user-agent",
            "traceparent",
            "accept-encoding",
            "x-smg-routing-key",
            "x-session-id",
            "x-instance-id",
            "x-turn-id",
            "x-dressage-sandbox-id",
            "x-dressage-partial-rollout",
            "x-dressage-expected-version");
    assertThat(got.header("x-session-id")).hasValue("sess-1");
    assertThat(got.header("x-smg-routing-key")).hasValue("sess-1");
    assertThat(got.header("x-instance-id")).hasValue("inst-1");
    assertThat(got.header("x-turn-id")).hasValue("t1");
    assertThat(got.header("x-dressage-sandbox-id")).hasValue("sandbox-1");
    assertThat(got.header("x-dressage-partial-rollout")).hasValue("1");
    assertThat(got.header("x-dressage-expected-version")).hasValue("v-42");
    assertThat(got.header("accept-encoding")).hasValue("identity");
    assertThat(got.header("user-agent")).hasValue("opencode/1.0");
  }

  /** The agent's own trace is another one; its state must not be mixed with the turn's. */
  @Test
  void theTraceOfTheTurnGoesBeforeTheAgents() throws IOException {
    String parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    try (TurnScope _ = rig.openTurn("t1", Map.of("traceparent", parent));
        TestAgent agent = rig.agent()) {
      agent.send(
          "POST",
          "/v1/chat/completions",
          ProxyRig.plainBody("hi").getBytes(StandardCharsets.UTF_8),
          "authorization: Bearer " + ProxyRig.KEY,
          "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "tracestate: agent=1");
      assertThat(agent.answer().status()).isEqualTo(200);
    }
    EngineRequest got = rig.engine.chatRequests().getFirst();
    assertThat(got.header("traceparent")).hasValue(parent);
    assertThat(got.header("tracestate")).isEmpty();
  }

  @Test
  void bodyIsByteExact() throws IOException {
    String odd =
        "{ \"messages\" : [{\"role\":\"user\",\"content\":\"\\u00e9 \\ud83e\\udd9c 🦜\"}],\n"
            + "  \"temperature\": 0.0, \"model\":\"m\", \"seed\": 1e2, \"x\": {\"b\":1,\"a\":2}}";
    rig.proxy.bind(
        rig.binding(new ProxyOptions("X-Key", OptionalInt.of(3), OptionalDouble.of(0.7))));
    try (TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(odd).status()).isEqualTo(200);
    }
    EngineRequest got = rig.engine.chatRequests().getFirst();
    assertThat(got.bodyText()).isEqualTo(odd);
    assertThat(got.header("x-key")).hasValue("sess-1");
  }

  @Test
  void defaultTemperatureAndUsageAreAddedAndNothingElse() throws Exception {
    rig.proxy.bind(rig.binding(new ProxyOptions("", OptionalInt.empty(), OptionalDouble.of(0.7))));
    try (TurnScope _ = rig.openTurn("t1")) {
      String body =
          "{\"stream\":true,\"temperature\":null,\"stream_options\":{\"keep\":1},"
              + "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
      assertThat(rig.chat(body).status()).isEqualTo(200);
    }
    assertThat(rig.engine.chatRequests().getFirst().bodyText())
        .isEqualTo(
            "{\"stream\":true,\"temperature\":0.7,\"stream_options\":"
                + "{\"keep\":1,\"include_usage\":true},"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
  }
}
