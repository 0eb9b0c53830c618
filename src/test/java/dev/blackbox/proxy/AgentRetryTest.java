package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An agent's SDK that sends a call again gets the first call's answer, and no second step. */
class AgentRetryTest {

  private static final Duration LONG = Duration.ofSeconds(10);
  private static final String FIRST = Question.RETRY_COUNT + ": 0";
  private static final String RETRY = Question.RETRY_COUNT + ": 1";
  private static final Step ANSWER = Step.text("a longer answer in several events");

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(ANSWER));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  /**
   * The answer that is sent again lets the same call out, and an answer that is cut lets out none.
   */
  @ParameterizedTest
  @CsvSource({
    "CHAT,true",
    "CHAT,false",
    "ANTHROPIC,true",
    "ANTHROPIC,false",
    "RESPONSES,true",
    "RESPONSES,false"
  })
  void aToolCallThatIsSentAgainCountsOnceAndOneOfACutAnswerNever(Tongue tongue, boolean stream)
      throws Exception {
    Step call = Step.of(new Part.ToolCall("weather", "{\"city\":\"Oslo\"}"));
    rig.engine.script(EngineScript.always(call.with(new Fault.NoFinishReason())));
    try (TurnScope turn = rig.openTurn("t1")) {
      assertThat(tongue.ask(rig, tongue.body(stream)).body()).doesNotContain("Oslo");
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(rig.sink.onlyEnd().toolCalls()).isEqualTo(1);
      assertThat(turn.totals().toolCalls()).isZero();
      rig.engine.script(EngineScript.always(call));
      tongue.ask(rig, tongue.body(stream), FIRST);
      assertThat(turn.drain(LONG)).isTrue();
      tongue.ask(rig, tongue.body(stream), RETRY);
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(turn.totals().toolCalls()).isEqualTo(1);
    }
  }

  private void assertRecorded(TurnScope turn, String verdict, String as) throws Exception {
    assertThat(turn.drain(LONG)).isTrue();
    assertThat(turn.totals().steps()).isEqualTo(1);
    List<CallSink.CallStarted> started = rig.sink.started();
    assertThat(started).hasSize(2);
    assertThat(started.getFirst().resent()).isEmpty();
    assertThat(started.getLast().step()).isZero();
    assertThat(started.getLast().resent())
        .hasValue(new CallSink.Resent(started.getFirst().callId(), as));
    assertThat(rig.sink.ended()).hasSize(2);
    assertThat(rig.sink.ended())
        .filteredOn(end -> end.callId().equals(started.getLast().callId()))
        .singleElement()
        .satisfies(end -> assertThat(end.verdict()).isEqualTo(verdict));
  }

  @ParameterizedTest
  @CsvSource({
    "CHAT,true",
    "CHAT,false",
    "ANTHROPIC,true",
    "ANTHROPIC,false",
    "RESPONSES,true",
    "RESPONSES,false"
  })
  void aRetryOfACallThatWentWellGetsItsAnswerAgain(Tongue tongue, boolean stream) throws Exception {
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer first = tongue.ask(rig, tongue.body(stream), FIRST);
      assertThat(turn.drain(LONG)).isTrue();
      TestAgent.Answer again = tongue.ask(rig, tongue.body(stream), RETRY);
      assertThat(again.status()).isEqualTo(200);
      assertThat(again.ended()).isTrue();
      assertThat(again.body()).isEqualTo(first.body());
      assertThat(again.headers().get("content-type"))
          .isEqualTo(first.headers().get("content-type"));
      assertThat(rig.engine.chatRequests()).hasSize(1);
      assertRecorded(turn, "ok", "replayed");
      assertThat(turn.totals().promptTokens()).isEqualTo(rig.engine.usageReported().promptTokens());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "CHAT,true",
    "CHAT,false",
    "ANTHROPIC,true",
    "ANTHROPIC,false",
    "RESPONSES,true",
    "RESPONSES,false"
  })
  void aRetryOfACallThatStillRunsIsToldTheSame(Tongue tongue, boolean stream) throws Exception {
    rig.engine.script(EngineScript.always(ANSWER.withDelayBetweenEvents(Duration.ofMillis(100))));
    if (!stream) {
      rig.engine.script(EngineScript.always(ANSWER.withDelayBeforeFirst(Duration.ofMillis(800))));
    }
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent first = rig.agent()) {
      tongue.send(first, tongue.body(stream), FIRST);
      await().atMost(LONG).until(() -> rig.engine.chatRequests().size() == 1);
      TestAgent.Answer again = tongue.ask(rig, tongue.body(stream), RETRY);
      assertThat(again.status()).isEqualTo(200);
      assertThat(again.body())
          .isEqualTo(first.answer().body())
          .contains(stream ? "al event" : "several events");
      assertThat(rig.engine.chatRequests()).hasSize(1);
      assertRecorded(turn, "ok", "joined");
    }
  }

  /** As SDKs do it that lost patience: they leave, and send the same again. */
  @ParameterizedTest
  @EnumSource
  void aJoinedCallGoesOnWhenItsFirstAgentLeaves(Tongue tongue) throws Exception {
    rig.engine.script(EngineScript.always(ANSWER.withDelayBetweenEvents(Duration.ofMillis(150))));
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent second = rig.agent()) {
      try (TestAgent first = rig.agent()) {
        tongue.send(first, tongue.body(true), FIRST);
        first.head();
        tongue.send(second, tongue.body(true), RETRY);
        await().atMost(LONG).until(() -> rig.sink.started().size() == 2);
        first.reset();
      }
      TestAgent.Answer answer = second.answer();
      assertThat(tongue.isGoodEnd(answer)).as(answer.body()).isTrue();
      assertThat(answer.body()).contains("al event");
      assertThat(rig.engine.chatRequests()).hasSize(1);
      assertThat(rig.engine.disconnects()).isZero();
      assertRecorded(turn, "ok", "joined");
      assertThat(rig.sink.ended()).allSatisfy(end -> assertThat(end.verdict()).isEqualTo("ok"));
    }
  }

  @Test
  void whenTheFollowerLeavesTooTheEngineIsLeft() throws Exception {
    rig.engine.script(EngineScript.always(ANSWER.with(new Fault.Stall(2, Duration.ofSeconds(30)))));
    try (TurnScope turn = rig.openTurn("t1")) {
      try (TestAgent first = rig.agent();
          TestAgent second = rig.agent()) {
        Tongue.CHAT.send(first, Tongue.CHAT.body(true), FIRST);
        first.head();
        Tongue.CHAT.send(second, Tongue.CHAT.body(true), RETRY);
        second.head();
      }
      await().atMost(Duration.ofSeconds(2)).until(() -> rig.engine.disconnects() == 1);
      assertRecorded(turn, "agent_gone", "joined");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFailureIsNotReplayedButTriedAgainAsTheSameStep(Tongue tongue) throws Exception {
    rig.engine.script(EngineScript.always(ANSWER.with(new Fault.CutAfterEvents(3, false), 1)));
    rig.proxy.bind(
        rig.binding(
            new ProxyOptions("X-SMG-Routing-Key", OptionalInt.of(1), OptionalDouble.empty())));
    try (TurnScope turn = rig.openTurn("t1")) {
      // Claude Code's header is 0 with every attempt; other programs have none.
      String[] headers = tongue == Tongue.ANTHROPIC ? new String[] {FIRST} : new String[0];
      assertThat(tongue.isGoodEnd(tongue.ask(rig, tongue.body(true), headers))).isFalse();
      assertThat(turn.drain(LONG)).isTrue();
      TestAgent.Answer again = tongue.ask(rig, tongue.body(true), headers);
      assertThat(tongue.isGoodEnd(again)).as(again.body()).isTrue();
      assertThat(rig.engine.chatRequests()).hasSize(2);
      assertRecorded(turn, "ok", "again");
    }
  }

  @Test
  void anEqualQuestionThatNobodyMarksIsAStepOfItsOwn() throws Exception {
    try (TurnScope turn = rig.openTurn("t1")) {
      for (int i = 0; i < 2; i++) {
        Tongue.ANTHROPIC.ask(rig, Tongue.ANTHROPIC.body(true), FIRST);
      }
      assertThat(turn.totals().steps()).isEqualTo(2);
      // Nothing like it was asked before.
      Tongue.ANTHROPIC.ask(rig, Tongue.ANTHROPIC.body(true).replace("hi", "ho"), RETRY);
      Tongue.CHAT.ask(rig, Tongue.CHAT.body(true), RETRY);
      assertThat(turn.totals().steps()).isEqualTo(4);
    }
    try (TurnScope turn = rig.openTurn("t2")) {
      // Another turn's answer is nobody's.
      Tongue.CHAT.ask(rig, Tongue.CHAT.body(true), RETRY);
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
    assertThat(rig.engine.chatRequests()).hasSize(5);
  }

  /** P10: what is kept, and how often a call is a retry, are bounded. */
  @Test
  void p10RetriesAndTheirMemoryAreBounded() throws Exception {
    rig.close();
    rig = new ProxyRig(bounded(2, 4_000), EngineScript.always(ANSWER));
    try (TurnScope turn = rig.openTurn("t1")) {
      for (int i = 0; i < 20; i++) {
        Tongue.CHAT.ask(rig, Tongue.CHAT.body(true).replace("hi", "hi " + i), FIRST);
      }
      // Forgotten, so it is asked again.
      Tongue.CHAT.ask(rig, Tongue.CHAT.body(true).replace("hi", "hi 0"), RETRY);
      assertThat(rig.engine.chatRequests()).hasSize(21);
      // Still known.
      Tongue.CHAT.ask(rig, Tongue.CHAT.body(true).replace("hi", "hi 0"), RETRY);
      assertThat(rig.engine.chatRequests()).hasSize(21);
      assertThat(turn.totals().steps()).isEqualTo(21);

      rig.engine.script(EngineScript.always(ANSWER.with(Fault.Instead.error(500, "{}"))));
      for (int i = 0; i < 4; i++) {
        Tongue.CHAT.ask(rig, Tongue.CHAT.body(true), RETRY);
        assertThat(turn.drain(LONG)).isTrue();
      }
      // A call and two retries, and then a step of its own.
      assertThat(turn.totals().steps()).isEqualTo(23);
    }
  }

  @Test
  void anAnswerTooLongToBeKeptIsAskedForAgain() throws Exception {
    rig.close();
    rig = new ProxyRig(bounded(2, 4_000), EngineScript.always(Step.text("x".repeat(10_000))));
    try (TurnScope turn = rig.openTurn("t1")) {
      Tongue.CHAT.ask(rig, Tongue.CHAT.body(true), FIRST);
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(Tongue.CHAT.isGoodEnd(Tongue.CHAT.ask(rig, Tongue.CHAT.body(true), RETRY)))
          .isTrue();
      assertThat(rig.engine.chatRequests()).hasSize(2);
      assertRecorded(turn, "ok", "again");
    }
  }

  @Test
  void aTurnThatClosesEndsBoth() throws Exception {
    rig.engine.script(EngineScript.always(ANSWER.withDelayBeforeFirst(Duration.ofSeconds(30))));
    try (TestAgent first = rig.agent();
        TestAgent second = rig.agent()) {
      TurnScope turn = rig.openTurn("t1");
      Tongue.CHAT.send(first, Tongue.CHAT.body(true), FIRST);
      await().atMost(LONG).until(() -> rig.sink.started().size() == 1);
      Tongue.CHAT.send(second, Tongue.CHAT.body(true), RETRY);
      await().atMost(LONG).until(() -> rig.sink.started().size() == 2);
      turn.close();
      ProxyDoorTest.assertError(first.answer(), 400, "no_open_turn");
      ProxyDoorTest.assertError(second.answer(), 400, "no_open_turn");
      assertRecorded(turn, "turn_closed", "joined");
    }
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void tokensThatNobodyReportedAreMarkedAsGuessed(boolean stream) throws Exception {
    rig.engine.script(EngineScript.always(ANSWER.with(new Fault.NoUsage())));
    try (TurnScope turn = rig.openTurn("t1")) {
      Tongue.CHAT.ask(rig, Tongue.CHAT.body(stream));
      assertThat(turn.drain(LONG)).isTrue();
      CallSink.CallEnded end = rig.sink.onlyEnd();
      assertThat(end.tokensEstimated()).isTrue();
      assertThat(end.promptTokens().orElseThrow()).isBetween(10L, 100L);
      assertThat(end.completionTokens().orElseThrow()).isBetween(3L, 100L);
      assertThat(turn.totals().promptTokens()).isZero();
      assertThat(turn.totals().completionTokens()).isZero();
    }
  }

  private static ProxyConfig bounded(int retriesMax, long bytesMax) {
    ProxyConfig base = ProxyRig.CONFIG;
    return new ProxyConfig(
        0,
        base.bodyBytesMax(),
        base.responseBytesMax(),
        base.concurrentCallsMax(),
        base.connectTimeout(),
        base.firstByteTimeout(),
        base.idleTimeout(),
        base.totalTimeout(),
        base.keepAlive(),
        base.retries(),
        new ProxyConfig.AgentRetries(retriesMax, bytesMax));
  }
}
