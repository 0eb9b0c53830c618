package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import dev.blackbox.http.LogCapture;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whichever side goes away, in whatever phase: the other one knows within a second. */
class DisconnectTest {

  /** The promise is one second; the rest is for a busy machine. */
  private static final Duration PROMPTLY = Duration.ofMillis(1500);

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Step STEP = Step.text("a longer answer in several events");

  /** No deadline of the proxy may be what ends these calls. */
  private static final ProxyConfig PATIENT =
      new ProxyConfig(0, 1 << 20, 8 << 20, 64, LONG, LONG, LONG);

  private ProxyRig rig;
  private TurnScope turn;

  @BeforeEach
  void start() {
    rig = new ProxyRig(PATIENT, EngineScript.always(STEP));
    turn = rig.openTurn("t1");
  }

  @AfterEach
  void stop() {
    turn.close();
    rig.close();
  }

  @ParameterizedTest
  @CsvSource({"false,false", "false,true", "true,false", "true,true"})
  void agentThatLeavesBeforeTheAnswerEndsTheCall(boolean stream, boolean reset) throws Exception {
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(LONG)));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, stream ? ProxyRig.streamBody("a") : ProxyRig.plainBody("a"));
      await().until(() -> rig.engine.chatRequests().size() == 1);
      leave(agent, reset);
      assertBothEnd();
    }
  }

  @Test
  void agentThatLeavesBetweenHeartbeatsEndsTheCall() throws Exception {
    rig.engine.script(
        EngineScript.always(
            STEP.withHeartbeats(1000).withDelayBetweenEvents(Duration.ofMillis(50))));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      await().until(() -> rig.engine.chatRequests().size() == 1);
      leave(agent, false);
      assertBothEnd();
    }
  }

  @Test
  void agentThatLeavesDuringAPlainAnswersBodyEndsTheCall() throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(0, LONG))));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> rig.engine.chatRequests().size() == 1);
      leave(agent, false);
      assertBothEnd();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void agentThatLeavesInTheMiddleOfAStreamEndsTheCall(boolean reset) throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(3, LONG))));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      agent.head();
      assertThat(agent.chunk()).contains("data: ");
      leave(agent, reset);
      assertBothEnd();
      assertThat(rig.sink.onlyEnd().status()).isEqualTo(200);
    }
  }

  @Test
  void agentThatLeavesWhileHeldNeverReachesTheEngine() throws Exception {
    rig.proxy.hold();
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> rig.sink.started().size() == 1);
      leave(agent, false);
      await().atMost(PROMPTLY).until(() -> rig.sink.ended().size() == 1);
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
      rig.proxy.release(Optional.empty());
      assertThat(rig.engine.requests()).isEmpty();
    }
  }

  @Test
  void agentThatDoesNotReadIsFoundOutByItsLeaving() throws Exception {
    // More than all socket buffers hold, so that the proxy is in the middle of a write.
    rig.engine.script(
        EngineScript.always(Step.text("x".repeat(32 << 20)).withChunkCharacters(1 << 20)));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      agent.head();
      leave(agent, false);
      await().atMost(PROMPTLY).until(() -> rig.sink.ended().size() == 1);
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
      // The engine is in a write itself, and does not look whether the other side has closed.
      await().atMost(Duration.ofSeconds(10)).until(() -> rig.engine.disconnects() == 1);
    }
  }

  @Test
  void agentThatLeavesAfterTheLastEventHasAllOfIt() throws Exception {
    // The engine has said all, and takes its time to close the stream.
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(8, Duration.ofMillis(500)))));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      agent.head();
      String got = "";
      while (!got.contains("\"usage\":{")) {
        got += agent.chunk();
      }
      leave(agent, true);
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
      assertThat(rig.sink.onlyEnd().promptTokens()).isPresent();
    }
  }

  @Test
  void engineThatGoesAwayEndsTheAgentsStream() throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(3, LONG))));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      agent.head();
      assertThat(agent.chunk()).contains("data: ");
      rig.engine.close();
      long before = System.nanoTime();
      String got = "";
      while (!got.contains("\"error\"")) {
        got += agent.chunk();
      }
      assertThat(agent.isClosedByProxy()).isTrue();
      assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(PROMPTLY);
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("truncated");
    }
  }

  @Test
  void engineThatGoesAwayBeforeItAnswersIsAnError() throws Exception {
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(LONG)));
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
      await().until(() -> rig.engine.chatRequests().size() == 1);
      rig.engine.close();
      ProxyDoorTest.assertError(agent.answer(), 502, "upstream_truncated");
    }
  }

  @Test
  void p10AgentThatNeitherReadsNorLeavesIsGivenUp() throws Exception {
    turn.close();
    rig.close();
    rig =
        new ProxyRig(
            EngineScript.always(Step.text("x".repeat(32 << 20)).withChunkCharacters(1 << 19)));
    turn = rig.openTurn("t1");
    try (TestAgent agent = rig.agent()) {
      ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
      agent.head();
      await().atMost(Duration.ofSeconds(5)).until(() -> rig.sink.ended().size() == 1);
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
    }
  }

  /** There is no place for an error in it: the connection is cut, and that is no bug of ours. */
  @ParameterizedTest
  @EnumSource
  void aTurnThatClosesWhileAPlainAnswerGoesOutCutsIt(Tongue tongue) throws Exception {
    turn.close();
    rig.close();
    int characters = 24 << 20; // more than all socket buffers hold
    rig =
        new ProxyRig(
            new ProxyConfig(0, 1 << 20, 2L * characters, 64, LONG, LONG, LONG),
            EngineScript.always(Step.text("x".repeat(characters))));
    turn = rig.openTurn("t1");
    try (LogCapture log = LogCapture.ofAll();
        TestAgent agent = rig.agent()) {
      tongue.send(agent, tongue.body(false));
      assertThat(agent.head().status()).isEqualTo(200);
      assertThat(rig.sink.ended()).isEmpty();
      turn.close();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("turn_closed");
      assertThat(agent.restOfBody()).isLessThan(characters);
      assertThat(log.lines()).filteredOn(line -> !line.startsWith("INFO")).isEmpty();
    }
  }

  private static void leave(TestAgent agent, boolean reset) throws IOException {
    if (reset) {
      agent.reset();
    } else {
      agent.close();
    }
  }

  private void assertBothEnd() {
    await()
        .atMost(PROMPTLY)
        .until(() -> rig.engine.disconnects() == 1 && rig.sink.ended().size() == 1);
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
    assertThat(turn.callsInFlight()).isZero();
    assertThat(turn.verdict()).isEmpty();
  }
}
