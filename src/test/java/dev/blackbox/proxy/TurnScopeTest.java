package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineRequest;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.TurnId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Turns, holding and releasing, many calls at once, and what is said to the engine beside them. */
@Timeout(60)
class TurnScopeTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration PROMPTLY = Duration.ofMillis(1500);
  private static final Step STEP = Step.text("a longer answer in several events");

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(STEP));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  /** P8: an agent that is started per turn cannot call as a later turn. */
  @ParameterizedTest
  @EnumSource
  void p8_aStragglerWithTheKeyOfAnEarlierTurnIsRefused(Tongue tongue) throws Exception {
    TurnScope first = rig.openTurn("t1");
    assertThat(ask(tongue, first.agentKey()).status()).isEqualTo(200);
    first.close();
    assertRefused(ask(tongue, first.agentKey()), Optional.empty());
    try (TurnScope second = rig.openTurn("t2")) {
      assertRefused(ask(tongue, first.agentKey()), Optional.of("t2"));
      assertThat(second.totals().steps()).isZero();
      assertThat(ask(tongue, second.agentKey()).status()).isEqualTo(200);
      assertThat(second.drain(LONG)).isTrue();
      assertThat(second.totals().steps()).isEqualTo(1);
      String forged = second.agentKey().reveal().replace("bbs-turn-", "bbs-turn-0");
      for (String wrong : List.of(forged, "bbs-turn-", "bbs-turn--", "")) {
        assertThat(ask(tongue, Secret.of(wrong)).body()).contains("invalid_api_key");
      }
      assertThat(rig.engine.chatRequests()).hasSize(2);
    }
  }

  private TestAgent.Answer ask(Tongue tongue, Secret key) throws IOException {
    try (TestAgent agent = rig.agent()) {
      byte[] body = tongue.body(false).getBytes(StandardCharsets.UTF_8);
      agent.send("POST", tongue.path(), body, "Authorization: Bearer " + key.reveal());
      return agent.answer();
    }
  }

  private void assertRefused(TestAgent.Answer answer, Optional<String> openTurn) {
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body()).contains("no_open_turn", "The turn of this model call was closed");
    CallSink.CallRefused refused = rig.sink.refused().getLast();
    assertThat(refused.reason()).isEqualTo("no_turn");
    assertThat(refused.turn().map(TurnId::value)).isEqualTo(openTurn);
  }

  @Test
  void eventReachesTheAgentBeforeTheEngineSendsTheNext() throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(1, LONG))));
    try (TurnScope _ = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      assertThat(agent.head().headers()).containsEntry("transfer-encoding", "chunked");
      assertThat(agent.chunk()).startsWith("data: ").endsWith("\n\n").contains("assistant");
      assertThat(rig.sink.ended()).isEmpty();
    }
  }

  @Test
  void heldCallsWaitAndGoOnWithTheNewVersion() throws Exception {
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      rig.proxy.hold();
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> rig.sink.started().size() == 1);
      await().until(() -> turn.callsInFlight() == 0);
      assertThat(turn.totals().steps()).isEqualTo(1);
      assertThat(turn.drain(Duration.ofMillis(10))).isTrue();
      assertThat(rig.proxy.callsInFlight()).isZero();
      assertThat(rig.engine.requests()).isEmpty();

      rig.proxy.release(Optional.of("v-2"));
      assertThat(agent.answer().status()).isEqualTo(200);
      EngineRequest got = rig.engine.chatRequests().getFirst();
      assertThat(got.header("x-dressage-expected-version")).hasValue("v-2");
      assertThat(got.header("x-turn-id")).hasValue("t1");
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
  }

  @Test
  void p8HeldCallIsRefusedWhenItsTurnCloses() throws Exception {
    TurnScope turn = rig.openTurn("t1");
    try (TestAgent agent = rig.agent()) {
      rig.proxy.hold();
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> rig.sink.started().size() == 1);
      turn.close();
      ProxyDoorTest.assertError(agent.answer(), 400, "no_open_turn");
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("turn_closed");
    }
    try (TurnScope next = rig.openTurn("t2")) {
      rig.proxy.release(Optional.empty());
      assertThat(next.totals().steps()).isZero();
      assertThat(rig.engine.requests()).isEmpty();
    }
  }

  @Test
  void closingEndsTheCallsInFlightAndOnlyThose() throws Exception {
    rig.engine.script(
        new EngineScript(
            List.of(
                new EngineScript.Conversation("wait", List.of(STEP.withDelayBeforeFirst(LONG))),
                new EngineScript.Conversation(
                    "stall", List.of(STEP.with(new Fault.Stall(2, LONG))))),
            List.of(STEP)));
    TurnScope turn = rig.openTurn("t1");
    try (TestAgent waiting = rig.agent();
        TestAgent streaming = rig.agent()) {
      ProxyRig.sendChat(waiting, ProxyRig.plainBody("wait"));
      ProxyRig.sendChat(streaming, ProxyRig.streamBody("stall"));
      streaming.head();
      assertThat(streaming.chunk()).contains("data: ");
      await().until(() -> rig.engine.chatRequests().size() == 2);
      assertThat(turn.callsInFlight()).isEqualTo(2);
      assertThat(rig.proxy.callsInFlight()).isEqualTo(2);

      long before = System.nanoTime();
      turn.close();
      assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(PROMPTLY);
      assertThat(rig.sink.ended())
          .hasSize(2)
          .allSatisfy(end -> assertThat(end.verdict()).isEqualTo("turn_closed"));
      assertThat(turn.callsInFlight()).isZero();
      await().atMost(PROMPTLY).until(() -> rig.engine.disconnects() == 2);
      ProxyDoorTest.assertError(waiting.answer(), 400, "no_open_turn");
    }
    try (TurnScope next = rig.openTurn("t2")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      turn.close();
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      assertThat(next.totals().steps()).isEqualTo(2);
    }
  }

  @Test
  void p8CallThatBeganInAnEarlierTurnNeverCountsInALaterOne() throws Exception {
    TurnScope first = rig.openTurn("t1");
    try (TestAgent slow = rig.agent()) {
      byte[] body = ProxyRig.plainBody("a").getBytes(StandardCharsets.UTF_8);
      slow.sendRaw(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
              + ProxyRig.KEY
              + "\r\nContent-Length: "
              + body.length
              + "\r\n\r\n{");
      // A call on another connection shows that the door had time to see the slow one's head.
      assertThat(rig.chat(ProxyRig.plainBody("b")).status()).isEqualTo(200);
      await().pollDelay(Duration.ofMillis(100)).until(() -> true);
      first.close();
      try (TurnScope second = rig.openTurn("t2")) {
        slow.sendRaw(ProxyRig.plainBody("a").substring(1));
        ProxyDoorTest.assertError(slow.answer(), 400, "no_open_turn");
        assertThat(second.totals().steps()).isZero();
      }
    }
    assertThat(rig.engine.chatRequests()).hasSize(1);
  }

  @Test
  void drainWaitsForTheCallsAndTheirRecords() throws Exception {
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(Duration.ofMillis(300))));
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> turn.callsInFlight() == 1);
      assertThat(turn.drain(Duration.ofMillis(1))).isFalse();
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.ended()).hasSize(1);
      assertThat(turn.totals().promptTokens()).isPositive();
    }
  }

  @Test
  void twoHundredStreamsAtOnceComplete() throws Exception {
    int streams = 200;
    rig.engine.script(EngineScript.always(STEP.withDelayBetweenEvents(Duration.ofMillis(40))));
    rig.proxy.bind(
        rig.binding(
            new ProxyOptions(
                "X-SMG-Routing-Key", OptionalInt.of(streams), OptionalDouble.empty())));
    try (TurnScope turn = rig.openTurn("t1");
        ExecutorService agents = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<TestAgent.Answer>> answers = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        answers.add(agents.submit(() -> rig.chat(ProxyRig.streamBody("a"))));
      }
      for (Future<TestAgent.Answer> answer : answers) {
        assertThat(answer.get().ended()).isTrue();
        assertThat(answer.get().body()).endsWith("data: [DONE]\n\n");
      }
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(turn.totals().steps()).isEqualTo(streams);
      assertThat(turn.totals().completionTokens())
          .isEqualTo(rig.engine.usageReported().completionTokens());
    }
    assertThat(rig.sink.ended())
        .hasSize(streams)
        .allSatisfy(end -> assertThat(end.verdict()).isEqualTo("ok"));
    assertThat(rig.sink.started()).extracting(CallSink.CallStarted::step).doesNotHaveDuplicates();
  }

  @Test
  void unbindingClosesTheOpenTurn() throws IOException {
    TurnScope turn = rig.openTurn("t1");
    rig.proxy.unbind();
    assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(503);
    rig.proxy.bind(rig.binding(ProxyOptions.DEFAULTS));
    assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(400);
    try (TurnScope _ = rig.openTurn("t2")) {
      turn.close();
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
    }
  }

  @Test
  void pauseAndResumeAreToldToTheEngine() throws Exception {
    rig.proxy.release(Optional.of("v-1"));
    Map<String, ?> paused =
        rig.proxy.pauseUpstream("weight_update", Optional.of(2.5), Duration.ofSeconds(5));
    assertThat(paused.get("status")).isEqualTo("paused");
    assertThat(paused.get("quiesced")).isEqualTo(true);
    Map<String, ?> resumed =
        rig.proxy.resumeUpstream("weight_update", Optional.of("v-2"), Duration.ofSeconds(5));
    assertThat(resumed.get("version")).isEqualTo("v-2");

    EngineRequest pause = rig.engine.requests().getFirst();
    assertThat(pause.path()).isEqualTo("/v1/rollout/pause");
    assertThat(pause.bodyText())
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"reason\":\"weight_update\","
                + "\"mode\":\"preempt\",\"timeout_seconds\":2.5}");
    assertThat(pause.header("x-session-id")).hasValue("sess-1");
    assertThat(pause.header("x-instance-id")).hasValue("inst-1");
    assertThat(pause.header("x-dressage-expected-version")).hasValue("v-1");
    assertThat(pause.headers())
        .doesNotContainKeys(
            "authorization", "x-turn-id", "x-smg-routing-key", "x-dressage-sandbox-id");
    EngineRequest resume = rig.engine.requests().get(1);
    assertThat(resume.path()).isEqualTo("/v1/rollout/resume");
    assertThat(resume.bodyText())
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"reason\":\"weight_update\","
                + "\"version\":\"v-2\"}");
  }

  @Test
  void failedPauseSaysWhy() throws ControlCallException {
    rig.engine.answerControlCallsWith(Fault.Instead.error(503, "{\"detail\":\"not ready\"}"));
    assertThatThrownBy(() -> rig.proxy.pauseUpstream("x", Optional.empty(), Duration.ofSeconds(5)))
        .isInstanceOf(ControlCallException.class)
        .hasMessageContaining("HTTP 503")
        .hasMessageContaining("not ready");
    rig.engine.answerControlCallsWith(Fault.Instead.error(200, "[1]"));
    assertThat(rig.proxy.resumeUpstream("x", Optional.empty(), Duration.ofSeconds(5)))
        .isEqualTo(Map.of("data", List.of(1)));
    rig.engine.close();
    assertThatThrownBy(() -> rig.proxy.pauseUpstream("x", Optional.empty(), Duration.ofSeconds(5)))
        .isInstanceOf(ControlCallException.class)
        .hasMessageContaining("reached");
    rig.proxy.unbind();
    assertThatThrownBy(() -> rig.proxy.pauseUpstream("x", Optional.empty(), Duration.ofSeconds(5)))
        .isInstanceOf(ControlCallException.class);
  }

  @Test
  void stoppingTheProxyEndsTheCalls() throws Exception {
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(LONG)));
    rig.openTurn("t1");
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> rig.engine.chatRequests().size() == 1);
      rig.proxy.close();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("turn_closed");
      ProxyDoorTest.assertError(agent.answer(), 400, "no_open_turn");
    }
  }
}
