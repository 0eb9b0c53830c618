package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The proxy is patient with its engine, and keeps its agent patient meanwhile. */
class PatienceTest {

  private static final Step STEP = Step.text("a longer answer in several events");
  private static final Duration LONG = Duration.ofSeconds(30);

  private ProxyRig rig = rig(LONG, LONG, 3);

  private static ProxyRig rig(Duration keepAliveAfter, Duration totalTimeout, int retriesMax) {
    return rig(keepAliveAfter, totalTimeout, retriesMax, Duration.ofSeconds(1));
  }

  private static ProxyRig rig(
      Duration keepAliveAfter, Duration totalTimeout, int retriesMax, Duration delayMax) {
    return new ProxyRig(
        new ProxyConfig(
            0,
            1 << 20,
            1 << 20,
            16,
            Duration.ofSeconds(2),
            LONG,
            LONG,
            totalTimeout,
            new ProxyConfig.KeepAlive(keepAliveAfter, Duration.ofMillis(60)),
            new ProxyConfig.Retries(retriesMax, Duration.ofMillis(10), delayMax),
            ProxyConfig.AgentRetries.DEFAULTS),
        EngineScript.always(STEP));
  }

  private void restart(Duration keepAliveAfter, Duration totalTimeout, int retriesMax) {
    rig.close();
    rig = rig(keepAliveAfter, totalTimeout, retriesMax);
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  private static Stream<Fault> whatPasses() {
    return Stream.of(
        Fault.Instead.error(429, "{\"error\":{\"message\":\"slow down\"}}"),
        Fault.Instead.error(500, "{}"),
        Fault.Instead.error(503, "{\"detail\":{\"error\":\"proxy_shutting_down\"}}"),
        new Fault.Instead(529, "text/html", "<html>", Optional.of("0")),
        new Fault.Instead(503, "text/html", "", Optional.of("Sun, 06 Nov 1994 08:49:37 GMT")),
        new Fault.NoAnswer(),
        Fault.InsertAfterEvents.errorFrame(0, "{\"message\":\"late\",\"status_code\":503}"));
  }

  @ParameterizedTest
  @MethodSource("whatPasses")
  void whatPassesIsTriedAgainAndTheAgentSeesNothingOfIt(Fault fault) throws Exception {
    for (Tongue tongue : Tongue.values()) {
      for (boolean stream : new boolean[] {true, false}) {
        if (!stream && fault instanceof Fault.InsertAfterEvents) {
          continue;
        }
        rig.engine.script(EngineScript.always(STEP.with(fault, 2)));
        try (TurnScope turn = rig.openTurn("t1")) {
          int before = rig.engine.chatRequests().size();
          // The engine counts its faults by what it is asked.
          String body = tongue.body(stream).replace("hi", "hi " + before);
          TestAgent.Answer answer = tongue.ask(rig, body);
          assertThat(answer.status()).as(answer.body()).isEqualTo(200);
          assertThat(answer.body()).contains(stream ? "a longer" : "a longer answer in several");
          assertThat(rig.engine.chatRequests()).hasSize(before + 3);
          assertThat(turn.drain(LONG)).isTrue();
          assertThat(turn.totals().steps()).isEqualTo(1);
          assertThat(turn.verdict()).isEmpty();
          assertThat(rig.sink.ended().getLast().verdict()).isEqualTo("ok");
          assertThat(rig.sink.ended().getLast().retries()).isEqualTo(2);
        }
      }
    }
  }

  @Test
  void anEngineThatComesBackIsFound() throws Exception {
    int unused;
    try (ServerSocket socket = new ServerSocket(0)) {
      unused = socket.getLocalPort();
    }
    rig.proxy.bind(
        ProxyRig.binding(URI.create("http://127.0.0.1:" + unused), ProxyOptions.DEFAULTS));
    try (TurnScope _ = rig.openTurn("t1")) {
      ProxyDoorTest.assertError(rig.chat(ProxyRig.plainBody("a")), 502, "upstream_unreachable");
      assertThat(rig.sink.onlyEnd().retries()).isEqualTo(3);
    }
  }

  @Test
  void anEngineThatNamesTheTimeIsAskedAgainThen() throws Exception {
    Instant soon = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(3);
    String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(soon.atOffset(ZoneOffset.UTC));
    rig.close();
    rig = rig(LONG, LONG, 1, LONG);
    rig.engine.script(
        EngineScript.always(
            STEP.with(new Fault.Instead(429, "application/json", "{}", Optional.of(date)), 1)));
    try (TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      assertThat(Instant.now()).isAfterOrEqualTo(soon);
    }
  }

  private static Stream<Fault> whatStands() {
    return Stream.of(
        Fault.Instead.error(400, "{}"),
        Fault.Instead.error(401, "{}"),
        Fault.Instead.error(502, "{\"detail\":{\"error\":\"generation_preempted\"}}"),
        new Fault.Instead(429, "application/json", "{}", Optional.of("2")),
        new Fault.Instead(
            503, "application/json", "{}", Optional.of("Fri, 31 Dec 2179 23:59:59 GMT")),
        new Fault.Instead(200, "text/html", "<html>", Optional.empty()),
        new Fault.CutAfterEvents(2, false));
  }

  @ParameterizedTest
  @MethodSource("whatStands")
  void whatDoesNotPassIsNotTriedAgain(Fault fault) throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(fault)));
    try (TurnScope turn = rig.openTurn("t1")) {
      rig.chat(ProxyRig.streamBody("a"));
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(rig.engine.chatRequests()).hasSize(1);
      assertThat(rig.sink.onlyEnd().retries()).isZero();
    }
  }

  /** "max_tokens too large" is no overflow: the proxy asks for less, once. */
  @ParameterizedTest
  @EnumSource
  void tooLongAnAnswerIsAskedForAgainButShorter(Tongue tongue) throws Exception {
    Fault tooLong =
        Fault.Instead.error(
            400,
            "{\"error\":{\"message\":\"max_tokens is too large: 99. This model supports at most 16"
                + " completion tokens, whereas you provided"
                + " 99.\",\"type\":\"invalid_request_error\",\"code\":\"invalid_value\"}}");
    rig.engine.script(EngineScript.always(STEP.with(tooLong, 1)));
    try (TurnScope turn = rig.openTurn("t1")) {
      assertThat(tongue.ask(rig, tongue.body(true)).status()).isEqualTo(200);
      assertThat(rig.engine.chatRequests().getLast().bodyText()).contains("\"max_tokens\":16");
      rig.engine.script(EngineScript.always(STEP.with(tooLong)));
      assertThat(tongue.ask(rig, tongue.body(true)).status()).isEqualTo(400);
      assertThat(rig.engine.chatRequests()).hasSize(4);
      assertThat(turn.totals().steps()).isEqualTo(2);
    }
  }

  @Test
  void anAgentThatLeavesEndsTheRetries() throws Exception {
    restart(LONG, LONG, 100);
    rig.engine.script(EngineScript.always(STEP.with(Fault.Instead.error(503, "{}"))));
    try (TurnScope turn = rig.openTurn("t1")) {
      try (TestAgent agent = rig.agent()) {
        ProxyRig.sendChat(agent, ProxyRig.streamBody("a"));
        await().until(() -> rig.engine.chatRequests().size() > 1);
      }
      await().atMost(Duration.ofSeconds(3)).until(() -> rig.sink.ended().size() == 1);
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
      assertThat(turn.callsInFlight()).isZero();
    }
  }

  private static Pattern life(Tongue tongue) {
    return Pattern.compile(
        switch (tongue) {
          case CHAT -> "(: keep-alive\n\n){2,}";
          case ANTHROPIC -> "(event: ping\ndata: \\{\"type\":\"ping\"}\n\n){2,}";
          case RESPONSES -> "(event: response.in_progress\ndata: [^\n]*\n\n){2,}";
        });
  }

  @ParameterizedTest
  @EnumSource
  void aSilentEnginesAnswerIsBegunAndKeptAlive(Tongue tongue) throws Exception {
    restart(Duration.ofMillis(100), LONG, 0);
    rig.engine.script(EngineScript.always(STEP.withDelayBeforeFirst(Duration.ofMillis(600))));
    try (TurnScope _ = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertThat(answer.headers().get("content-type")).startsWith("text/event-stream");
      assertThat(answer.body()).containsPattern(life(tongue)).contains("a longer");
      assertThat(tongue.isGoodEnd(answer)).as(answer.body()).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
    }
  }

  @ParameterizedTest
  @EnumSource
  void silenceInTheMiddleIsBridgedBetweenEvents(Tongue tongue) throws Exception {
    restart(LONG, LONG, 0);
    rig.engine.script(EngineScript.always(STEP.with(new Fault.Stall(3, Duration.ofMillis(500)))));
    try (TurnScope _ = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertThat(answer.body()).containsPattern(life(tongue));
      assertThat(tongue.isGoodEnd(answer)).as(answer.body()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anErrorAfterTheFirstSignIsAnEvent(Tongue tongue) throws Exception {
    restart(Duration.ofMillis(100), LONG, 0);
    rig.engine.script(
        EngineScript.always(
            STEP.with(Fault.Instead.error(400, "{\"error\":{\"message\":\"boom\"}}"))
                .withDelayBeforeFirst(Duration.ofMillis(400))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).contains("boom");
      assertThat(tongue.isGoodEnd(answer)).isFalse();
      if (tongue != Tongue.CHAT) {
        assertThat(Tongue.events(answer).getLast()).containsEntry("type", tongue.errorEvent());
      }
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("upstream_error");
    }
  }

  /** P10: signs of life extend no deadline. */
  @ParameterizedTest
  @EnumSource
  void p10TheWholeOfACallIsBounded(Tongue tongue) throws Exception {
    restart(Duration.ofMillis(50), Duration.ofMillis(700), 0);
    rig.engine.script(EngineScript.always(STEP.withDelayBetweenEvents(Duration.ofMillis(200))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertThat(tongue.isGoodEnd(answer)).isFalse();
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("timeout");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCallThatWaitsForAResumeIsKeptAlive(Tongue tongue) throws Exception {
    restart(Duration.ofMillis(100), LONG, 0);
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      rig.proxy.hold();
      tongue.send(agent, tongue.body(true));
      agent.head();
      assertThat(turn.callsInFlight()).isZero();
      assertThat(rig.engine.chatRequests()).isEmpty();
      rig.proxy.release(Optional.of("v2"));
      StringBuilder got = new StringBuilder();
      while (got.indexOf("a longer") < 0) {
        got.append(agent.chunk());
      }
      assertThat(rig.engine.chatRequests().getFirst().header("x-dressage-expected-version"))
          .contains("v2");
    }
  }
}
