package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.TurnKey;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** P9: whatever an engine does wrong, no agent takes it for an answer. */
class EngineFaultTest {

  private static final Step STEP = Step.text("a longer answer in several events");
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String HTML = "<html>502</html>";

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(STEP));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  /** Fault, what the agent gets as status, the call's verdict. Before the first event. */
  static Stream<Arguments> faultsBeforeTheStream() {
    return Stream.of(
        Arguments.of(new Fault.NoAnswer(), 502, "truncated"),
        Arguments.of(new Fault.CutAfterEvents(0, false), 502, "truncated"),
        Arguments.of(new Fault.CutAfterEvents(0, true), 502, "truncated"),
        Arguments.of(new Fault.CutAfterBytes(20), 502, "truncated"),
        Arguments.of(new Fault.EndAfterEvents(0), 502, "truncated"),
        Arguments.of(new Fault.Stall(0, LONG), 504, "timeout"),
        Arguments.of(new Fault.InsertAfterEvents(0, "data: [DONE]\n\n"), 502, "truncated"),
        Arguments.of(new Fault.InsertAfterEvents(0, "data: nonsense\n\n"), 502, "upstream_error"),
        Arguments.of(new Fault.InsertAfterEvents(0, "data: {\"cho"), 502, "truncated"),
        Arguments.of(
            Fault.InsertAfterEvents.errorFrame(0, "{\"message\":\"boom\"}"), 502, "upstream_error"),
        Arguments.of(
            Fault.InsertAfterEvents.errorFrame(
                0, "{\"message\":\"late\",\"code\":\"http_error\",\"status_code\":503}"),
            503,
            "upstream_error"),
        Arguments.of(
            new Fault.Instead(200, "text/html", HTML, Optional.empty()), 502, "upstream_error"),
        Arguments.of(
            new Fault.Instead(200, "application/json", "{\"choices\":[]}", Optional.empty()),
            502,
            "upstream_error"),
        Arguments.of(
            Fault.Instead.error(200, "{\"error\":{\"message\":\"boom\"}}"), 502, "upstream_error"),
        Arguments.of(Fault.Instead.error(307, "{}"), 502, "upstream_error"),
        Arguments.of(Fault.Instead.error(500, "{\"detail\":\"boom\"}"), 500, "upstream_error"));
  }

  @ParameterizedTest
  @MethodSource("faultsBeforeTheStream")
  void p9FaultBeforeTheFirstEventIsAnHttpError(Fault fault, int status, String verdict)
      throws Exception {
    rig.engine.script(EngineScript.always(STEP.withHeartbeats(2).with(fault)));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("a"));

      assertThat(answer.status()).isEqualTo(status);
      assertThat(answer.ended()).isTrue();
      assertThat(answer.body()).doesNotContain("heartbeat", "[DONE]");
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo(verdict);
      assertThat(turn.verdict())
          .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.UpstreamFailed.class));
    }
  }

  /** Fault, the call's verdict. In the middle of the stream. */
  static Stream<Arguments> faultsWithinTheStream() {
    return Stream.of(
        Arguments.of(new Fault.CutAfterEvents(2, false), "truncated"),
        Arguments.of(new Fault.CutAfterBytes(450), "truncated"),
        Arguments.of(new Fault.EndAfterEvents(2), "truncated"),
        Arguments.of(new Fault.Stall(2, LONG), "timeout"),
        Arguments.of(new Fault.NoFinishReason(), "truncated"),
        Arguments.of(new Fault.InsertAfterEvents(2, "data: {\"a\":\n\n"), "upstream_error"),
        Arguments.of(new Fault.InsertAfterEvents(2, "data: {\"choices\":[{\"d"), "truncated"),
        Arguments.of(
            new Fault.InsertAfterEvents(2, "data: \"" + "x".repeat(1 << 20) + "\"\n\n"),
            "upstream_error"),
        Arguments.of(
            Fault.InsertAfterEvents.errorFrame(2, "{\"message\":\"boom\"}"), "upstream_error"));
  }

  @ParameterizedTest
  @MethodSource("faultsWithinTheStream")
  void p9FaultWithinTheStreamIsAnErrorEventAndACut(Fault fault, String verdict) throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(fault)));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("a"));

      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.ended()).as("the end of the stream must not look good").isFalse();
      assertThat(answer.body())
          .startsWith("data: {\"id\":")
          .contains("a longer")
          .doesNotContain("[DONE]")
          .endsWith("}\n\n");
      String last = answer.body().substring(answer.body().lastIndexOf("data: "));
      assertThat(last).startsWith("data: {\"error\":");
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo(verdict);
      assertThat(turn.verdict())
          .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.UpstreamFailed.class));
    }
  }

  /** A TCP reset may take what came before it with it, but never makes an end look good. */
  @Test
  void p9ResetWithinTheStreamIsNeverAGoodEnd() throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(new Fault.CutAfterEvents(2, true))));
    try (TurnScope _ = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("a"));
      assertThat(answer.status() == 502 || !answer.ended()).isTrue();
      assertThat(answer.body()).doesNotContain("[DONE]").contains("\"error\"");
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("truncated");
    }
  }

  /** Fault, what the agent gets as status, the call's verdict. For plain calls. */
  static Stream<Arguments> faultsOfPlainAnswers() {
    return Stream.of(
        Arguments.of(new Fault.NoAnswer(), 502, "truncated"),
        Arguments.of(new Fault.CutAfterEvents(0, false), 502, "truncated"),
        Arguments.of(new Fault.CutAfterEvents(0, true), 502, "truncated"),
        Arguments.of(new Fault.EndAfterEvents(0), 502, "upstream_error"),
        Arguments.of(new Fault.Stall(0, LONG), 504, "timeout"),
        Arguments.of(new Fault.InsertAfterEvents(0, HTML), 502, "upstream_error"),
        Arguments.of(
            new Fault.InsertAfterEvents(0, "x".repeat((1 << 20) + 1)), 502, "upstream_error"),
        Arguments.of(
            Fault.Instead.error(200, "{\"error\":{\"message\":\"boom\",\"code\":429}}"),
            429,
            "upstream_error"));
  }

  @ParameterizedTest
  @MethodSource("faultsOfPlainAnswers")
  void p9FaultOfAPlainAnswerIsAnHttpError(Fault fault, int status, String verdict)
      throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(fault)));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.plainBody("a"));
      assertThat(answer.status()).isEqualTo(status);
      assertThat(answer.body()).contains("\"message\"");
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo(verdict);
    }
  }

  /** The answer is whole, only its ending is not as it should be. */
  static Stream<Fault> faultsAfterTheFinishReason() {
    int events = 7;
    return Stream.of(
        new Fault.NoDone(),
        new Fault.CutAfterEvents(events, false),
        new Fault.Stall(events, LONG),
        new Fault.InsertAfterEvents(events, "data: [DONE]\n"),
        new Fault.InsertAfterEvents(events, "data: [DO"));
  }

  @ParameterizedTest
  @MethodSource("faultsAfterTheFinishReason")
  void streamThatHasFinishedIsCompleted(Fault fault) throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(fault)));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("a"));
      assertThat(answer.ended()).isTrue();
      assertThat(answer.body()).containsOnlyOnce("data: [DONE]").endsWith("data: [DONE]\n\n");
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
      assertThat(turn.verdict()).isEmpty();
    }
  }

  @Test
  void choicesMustAllFinish() throws Exception {
    String chunk =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    rig.engine.script(
        EngineScript.always(STEP.with(new Fault.InsertAfterEvents(1, chunk + "data: [DONE]\n\n"))));
    try (TurnScope _ = rig.openTurn("t1")) {
      String two = ProxyRig.streamBody("a").replaceFirst("\\{", "{\"n\": 2, ");
      assertThat(rig.chat(two).ended()).isFalse();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("truncated");
    }
  }

  @Test
  void errorStatusPassesAsItIs() throws Exception {
    rig.engine.script(
        EngineScript.always(
            STEP.with(
                new Fault.Instead(429, "application/json", "{\"odd\" : true}", Optional.of("7")))));
    try (TurnScope _ = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("a"));
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.headers()).containsEntry("retry-after", "7");
      assertThat(answer.body()).isEqualTo("{\"odd\" : true}");
      assertThat(rig.sink.onlyEnd().status()).isEqualTo(429);
    }
  }

  @Test
  void laterSuccessMakesUpForAFailure() throws Exception {
    rig.engine.script(
        EngineScript.always(STEP.with(Fault.Instead.error(500, "{\"detail\":\"boom\"}"), 1)));
    try (TurnScope turn = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(500);
      assertThat(turn.verdict())
          .hasValue(new Verdict.UpstreamFailed(500, "Upstream returned HTTP 500: boom"));
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(turn.verdict()).isEmpty();
      // The same question after a failure is the same step.
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
  }

  @Test
  void engineThatIsNotThereIsSaidSo() throws Exception {
    int unused;
    try (ServerSocket socket = new ServerSocket(0)) {
      unused = socket.getLocalPort();
    }
    rig.proxy.bind(
        ProxyRig.binding(URI.create("http://127.0.0.1:" + unused), ProxyOptions.DEFAULTS));
    try (TurnScope turn = rig.openTurn("t1")) {
      ProxyDoorTest.assertError(rig.chat(ProxyRig.streamBody("a")), 502, "upstream_unreachable");
      CallSink.CallEnded end = rig.sink.onlyEnd();
      assertThat(end.verdict()).isEqualTo("upstream_unreachable");
      assertThat(end.status()).isZero();
      assertThat(end.firstByteAt()).isEmpty();
      assertThat(turn.verdict())
          .hasValue(new Verdict.UpstreamFailed(0, "the engine cannot be reached"));
    }
  }

  @Test
  void engineThatDoesNotBeginInTimeIsGivenUp() throws Exception {
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(LONG)));
    try (TurnScope _ = rig.openTurn("t1")) {
      ProxyDoorTest.assertError(rig.chat(ProxyRig.plainBody("a")), 504, "upstream_timeout");
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("timeout");
    }
  }

  @Test
  void p10CallsBeyondThePlacesAreRefused() throws IOException {
    ProxyConfig one =
        new ProxyConfig(
            0,
            1 << 20,
            1 << 20,
            1,
            Duration.ofSeconds(2),
            Duration.ofSeconds(10),
            Duration.ofSeconds(10));
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(LONG)));
    try (ModelProxy proxy = ModelProxy.start(one, rig.sink, InstantSource.system())) {
      proxy.bind(rig.binding(ProxyOptions.DEFAULTS));
      try (TurnScope turn = proxy.openTurn(new TurnKey(7, TurnId.parse("t1")), Map.of());
          TestAgent first = new TestAgent(proxy.port());
          TestAgent second = new TestAgent(proxy.port())) {
        ProxyRig.sendChat(first, ProxyRig.plainBody("a"));
        await().until(() -> turn.callsInFlight() == 1);
        ProxyRig.sendChat(second, ProxyRig.plainBody("b"));
        TestAgent.Answer answer = second.answer();
        ProxyDoorTest.assertError(answer, 503, "too_many_calls");
        assertThat(answer.headers()).containsEntry("retry-after", "1");
      }
    }
  }
}
