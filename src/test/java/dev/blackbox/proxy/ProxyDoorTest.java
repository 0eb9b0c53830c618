package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.app.engine.EngineRequest;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who is let in, and what those are told who are not. */
class ProxyDoorTest {

  private static final String[] NOTHING = {};
  private static final byte[] EMPTY = {};

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
  void wrongKeyIsTurnedAway() throws IOException {
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      agent.send("POST", "/v1/chat/completions", bytes(ProxyRig.plainBody("a")), NOTHING);
      assertError(agent.answer(), 401, "invalid_api_key");
      agent.send(
          "POST",
          "/v1/chat/completions",
          bytes(ProxyRig.plainBody("a")),
          "Authorization: Bearer " + ProxyRig.KEY + "x");
      assertError(agent.answer(), 401, "invalid_api_key");
      agent.send(
          "POST",
          "/v1/chat/completions",
          bytes(ProxyRig.plainBody("a")),
          "x-api-key: " + ProxyRig.KEY);
      assertThat(agent.answer().status()).isEqualTo(200);
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
    assertThat(rig.sink.refused())
        .extracting(CallSink.CallRefused::reason)
        .containsExactly("bad_key", "bad_key");
    assertThat(rig.engine.chatRequests()).hasSize(1);
  }

  @Test
  void keyOfAnOlderBindingIsTurnedAway() throws IOException {
    ProxyBinding old = rig.binding(ProxyOptions.DEFAULTS);
    rig.proxy.bind(
        new ProxyBinding(
            old.sessionId(),
            old.instanceId(),
            Optional.empty(),
            old.upstreamOrigin(),
            "/v1",
            Secret.of("a-newer-key"),
            ProxyOptions.DEFAULTS));
    assertError(rig.chat(ProxyRig.plainBody("a")), 401, "invalid_api_key");
  }

  @Test
  void p8OutsideOfATurnNothingIsPassedOn() throws IOException {
    assertError(rig.chat(ProxyRig.plainBody("a")), 400, "no_open_turn");
    rig.openTurn("t1").close();
    TestAgent.Answer answer = rig.chat(ProxyRig.streamBody("a"));
    assertError(answer, 400, "no_open_turn");
    assertThat(answer.body()).contains("\"type\":\"invalid_request_error\"");
    assertThat(rig.sink.refused())
        .extracting(CallSink.CallRefused::reason)
        .containsExactly("no_turn", "no_turn");
    assertThat(rig.engine.chatRequests()).isEmpty();
  }

  @Test
  void whileNothingIsBoundThereIsNoEngine() throws IOException {
    rig.proxy.unbind();
    TestAgent.Answer answer = rig.chat(ProxyRig.plainBody("a"));
    assertError(answer, 503, "not_bound");
    assertThat(answer.headers()).containsKey("retry-after");
    assertThatThrownBy(() -> rig.openTurn("t1")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void onlyTheModelRoutesAreServed() throws IOException {
    try (TurnScope _ = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      String key = "Authorization: Bearer " + ProxyRig.KEY;
      for (String path :
          new String[] {
            "/v1/rollout/pause",
            "/session/finalize",
            "/v1/%63hat/completions",
            "/v1/chat%2Fcompletions",
            "/v1/chat/completions/x",
            "/v1/responses/compact",
            "/v1/messages/batches",
            "/v1/xmessages",
            "/v1/completions",
            "/docs"
          }) {
        agent.send("POST", path, bytes(ProxyRig.plainBody("a")), key);
        assertError(agent.answer(), 404, "unknown_route");
      }
      agent.send("GET", "/v1/chat/completions", EMPTY, key);
      assertError(agent.answer(), 404, "unknown_route");
      agent.send("DELETE", "/v1/models", EMPTY, key);
      assertError(agent.answer(), 404, "unknown_route");
    }
    assertThat(rig.engine.requests()).isEmpty();
    assertThat(rig.sink.refused())
        .hasSize(12)
        .allSatisfy(refused -> assertThat(refused.reason()).isEqualTo("unknown_route"));
  }

  /** Agents put what they like before the path; the engine's is always made of the binding. */
  @Test
  void whatStandsBeforeTheEndingOfAPathDoesNotMatter() throws IOException {
    String key = "Authorization: Bearer " + ProxyRig.KEY;
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      for (String path :
          new String[] {
            "/v1/chat/completions/?beta=1",
            "/chat/completions",
            "/a/b/chat/completions",
            "//v1/chat/completions",
            "/a/../v1/chat/completions",
            "/session/abc/messages?beta=true",
            "/agent/run-1/v1/messages/",
          }) {
        String body = ProxyRig.plainBody("a").replaceFirst("\\{", "{\"max_tokens\": 9, ");
        agent.send("POST", path, bytes(body), key);
        assertThat(agent.answer().status()).as(path).isEqualTo(200);
      }
      assertThat(turn.totals().steps()).isEqualTo(7);
    }
    assertThat(rig.engine.requests())
        .hasSize(7)
        .allSatisfy(got -> assertThat(got.path()).isEqualTo("/v1/chat/completions"));
  }

  @Test
  void healthAndModelsNeedNoTurn() throws IOException {
    try (TestAgent agent = rig.agent()) {
      agent.send("GET", "/__proxy_health", EMPTY, NOTHING);
      TestAgent.Answer health = agent.answer();
      assertThat(health.status()).isEqualTo(200);
      assertThat(health.body()).isEqualTo("{\"ok\": true}");

      agent.send("GET", "/v1/models", EMPTY, "Authorization: Bearer " + ProxyRig.KEY);
      TestAgent.Answer models = agent.answer();
      assertThat(models.status()).isEqualTo(200);
      assertThat(models.body()).contains("scripted");

      agent.send("GET", "/v1/models", EMPTY, NOTHING);
      assertError(agent.answer(), 401, "invalid_api_key");
    }
    EngineRequest got = rig.engine.requests().getFirst();
    assertThat(got.headers()).doesNotContainKeys("authorization", "x-session-id", "x-turn-id");
    assertThat(rig.sink.started()).isEmpty();
  }

  @Test
  void modelsAreListedInTheWordsOfTheirCaller() throws IOException {
    String anthropic =
        "{\"type\":\"model\",\"id\":\"scripted\",\"display_name\":\"scripted\","
            + "\"created_at\":\"2023-11-14T22:13:20Z\"}";
    assertThat(getByAnthropicClient("/v1/models?limit=1000"))
        .isEqualTo(
            "200 {\"data\":["
                + anthropic
                + "],\"has_more\":false,\"first_id\":\"scripted\",\"last_id\":\"scripted\"}");
    assertThat(getByAnthropicClient("/run-1/v1/models/scripted")).isEqualTo("200 " + anthropic);
    assertThat(getByAnthropicClient("/v1/models/lab%2Fother/models/x"))
        .startsWith("404 {\"type\":\"error\",\"error\":{\"type\":\"not_found_error\"")
        .contains("lab/other/models/x");
    try (TestAgent agent = rig.agent()) {
      String key = "Authorization: Bearer " + ProxyRig.KEY;
      agent.send("GET", "/v1/models/scripted", EMPTY, key);
      assertThat(agent.answer().body())
          .isEqualTo("{\"id\":\"scripted\",\"object\":\"model\",\"created\":1700000000}");
      agent.send("GET", "/v1/models/another", EMPTY, key);
      assertError(agent.answer(), 404, "model_not_found");
      agent.send("GET", "/v1/models", EMPTY, "anthropic-version: 2023-06-01");
      assertThat(agent.answer().body()).contains("\"type\":\"permission_error\"");
    }
    assertThat(rig.engine.requests())
        .hasSize(5)
        .allSatisfy(got -> assertThat(got.path()).isEqualTo("/v1/models"));
  }

  private String getByAnthropicClient(String path) throws IOException {
    try (TestAgent agent = rig.agent()) {
      agent.send("GET", path, EMPTY, "x-api-key: " + ProxyRig.KEY, "anthropic-version: 2023-06-01");
      TestAgent.Answer answer = agent.answer();
      return answer.status() + " " + answer.body();
    }
  }

  @Test
  void apiPathOfTheBindingIsServedAndUsed() throws IOException {
    ProxyBinding usual = rig.binding(ProxyOptions.DEFAULTS);
    rig.proxy.bind(
        new ProxyBinding(
            usual.sessionId(),
            usual.instanceId(),
            Optional.empty(),
            usual.upstreamOrigin(),
            "/router/api/",
            usual.agentKey(),
            ProxyOptions.DEFAULTS));
    try (TurnScope _ = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      for (String path : new String[] {"/router/api/chat/completions", "/v1/chat/completions"}) {
        agent.send(
            "POST", path, bytes(ProxyRig.plainBody("a")), "Authorization: Bearer " + ProxyRig.KEY);
        assertThat(agent.answer().status()).isEqualTo(200);
      }
    }
    assertThat(rig.engine.chatRequests())
        .hasSize(2)
        .allSatisfy(
            got -> {
              assertThat(got.path()).isEqualTo("/router/api/chat/completions");
              assertThat(got.headers()).doesNotContainKey("x-dressage-sandbox-id");
            });
  }

  @Test
  void stepsBeyondTheBudgetAreRefusedAfterTheDemandToStop() throws IOException {
    rig.proxy.bind(
        rig.binding(
            new ProxyOptions("X-SMG-Routing-Key", OptionalInt.of(2), OptionalDouble.empty())));
    try (TurnScope turn = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      assertThat(rig.chat(ProxyRig.streamBody("b")).status()).isEqualTo(200);
      assertThat(turn.stopDemanded()).isNotDone();
      try (TestAgent agent = rig.agent()) {
        ProxyRig.sendChat(agent, ProxyRig.plainBody("c"));
        // The head of the answer has come, so the demand must have been made.
        TestAgent.Head head = agent.head();
        assertThat(turn.stopDemanded()).isCompletedWithValue(new Verdict.StepsExceeded(2, 2));
        assertThat(head.status()).isEqualTo(429);
        assertThat(head.headers())
            .containsEntry("x-should-retry", "false")
            .doesNotContainKey("retry-after");
      }
      assertThat(rig.chat(ProxyRig.streamBody("d")).body())
          .isEqualTo(
              "{\"error\":{\"message\":\"Turn exceeded max_steps.\",\"type\":\"rate_limit_error\","
                  + "\"code\":\"max_steps_exceeded\","
                  + "\"details\":{\"max_steps\":2,\"attempted_step\":2}}}");
      assertThat(turn.verdict()).hasValue(new Verdict.StepsExceeded(2, 2));
      assertThat(turn.totals().steps()).isEqualTo(2);
      assertThat(turn.callsInFlight()).isZero();
    }
    try (TurnScope next = rig.openTurn("t2")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      assertThat(next.verdict()).isEmpty();
    }
    assertThat(rig.sink.started()).extracting(CallSink.CallStarted::step).containsExactly(0, 1, 0);
    assertThat(rig.engine.chatRequests()).hasSize(3);
  }

  @Test
  void badBodiesAreRefusedAndCountAsNoStep() throws IOException {
    try (TurnScope turn = rig.openTurn("t1")) {
      for (String body :
          new String[] {
            "",
            "{",
            "[]",
            "5",
            "{\"messages\":null}",
            "{\"messages\":{}}",
            "{}",
            "{\"messages\":[],\"stream\":\"false\"}",
            "{\"messages\":[{\"content\":\"\\ud83d\"}]}",
            "{\"messages\":[]} x",
            "{\"messages\":[],\"messages\":[]}"
          }) {
        TestAgent.Answer answer = rig.chat(body);
        assertError(answer, 400, "bad_request");
      }
      assertThat(turn.totals().steps()).isZero();
      assertThat(turn.callsInFlight()).isZero();
    }
    assertThat(rig.sink.refused())
        .hasSize(11)
        .allSatisfy(r -> assertThat(r.reason()).isEqualTo("bad_request"));
    assertThat(rig.engine.requests()).isEmpty();
  }

  @Test
  void p10LargeBodiesAreRefused() throws IOException {
    String large = ProxyRig.plainBody("x".repeat(1 << 20));
    try (TurnScope _ = rig.openTurn("t1")) {
      assertError(rig.chat(large), 413, "request_too_large");
      try (TestAgent agent = rig.agent()) {
        agent.sendRaw(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
                + ProxyRig.KEY
                + "\r\nTransfer-Encoding: chunked\r\n\r\n180000\r\n"
                + "x".repeat(0x180000)
                + "\r\n0\r\n\r\n");
        assertError(agent.answer(), 413, "request_too_large");
      }
    }
    assertThat(rig.sink.refused())
        .extracting(CallSink.CallRefused::reason)
        .containsExactly("too_large", "too_large");
  }

  @Test
  void oneTurnAtATime() {
    TurnScope first = rig.openTurn("t1");
    assertThatThrownBy(() -> rig.openTurn("t2"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("t1");
    first.close();
    TurnScope second = rig.openTurn("t2");
    first.close();
    assertThatThrownBy(() -> rig.openTurn("t3")).isInstanceOf(IllegalStateException.class);
    second.close();
  }

  @Test
  void takenPortIsSaidClearly() {
    ProxyConfig same =
        new ProxyConfig(
            rig.proxy.port(),
            1,
            1,
            1,
            ProxyRig.CONFIG.connectTimeout(),
            ProxyRig.CONFIG.firstByteTimeout(),
            ProxyRig.CONFIG.idleTimeout());
    assertThatThrownBy(() -> ModelProxy.start(same, rig.sink, InstantSource.system()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("127.0.0.1:" + rig.proxy.port());
  }

  @Test
  void bindingThatCannotBePutIntoHttpIsRefused() {
    for (String origin : new String[] {"ftp://engine", "engine:80", "/path"}) {
      ProxyBinding odd = ProxyRig.binding(URI.create(origin), ProxyOptions.DEFAULTS);
      assertThatThrownBy(() -> rig.proxy.bind(odd))
          .isInstanceOf(Problem.class)
          .hasMessageContaining(origin);
    }
    ProxyBinding usual = rig.binding(ProxyOptions.DEFAULTS);
    ProxyBinding injecting =
        new ProxyBinding(
            usual.sessionId(),
            usual.instanceId(),
            Optional.of("a\r\nX-Evil: 1"),
            usual.upstreamOrigin(),
            "/v1",
            usual.agentKey(),
            ProxyOptions.DEFAULTS);
    assertThatThrownBy(() -> rig.proxy.bind(injecting))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("bound_sandbox_id");
  }

  @Test
  void connectionCloseIsHonoured() throws IOException {
    try (TestAgent agent = rig.agent()) {
      agent.send("GET", "/__proxy_health", EMPTY, "Connection: close");
      assertThat(agent.answer().status()).isEqualTo(200);
      assertThat(agent.isClosedByProxy()).isTrue();
    }
  }

  @Test
  void callThatCannotBeRecordedIsNotMade() throws Exception {
    CallSink broken =
        new CallSink() {
          @Override
          public void started(CallStarted call) {
            throw new IllegalStateException("the ledger is down");
          }

          @Override
          public void ended(CallEnded call) {}

          @Override
          public void refused(CallRefused call) {}
        };
    try (ModelProxy proxy = ModelProxy.start(ProxyRig.CONFIG, broken, InstantSource.system())) {
      proxy.bind(rig.binding(ProxyOptions.DEFAULTS));
      try (TurnScope turn = proxy.openTurn(new TurnKey(1, TurnId.parse("t1")), Map.of());
          TestAgent agent = new TestAgent(proxy.port())) {
        ProxyRig.sendChat(agent, ProxyRig.plainBody("a"));
        assertError(agent.answer(), 503, "not_recorded");
        assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      }
    }
    assertThat(rig.engine.requests()).isEmpty();
  }

  static void assertError(TestAgent.Answer answer, int status, String code) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers()).containsEntry("content-type", "application/json");
    assertThat(Json.object(answer.body()).get("error"))
        .isInstanceOfSatisfying(
            Map.class,
            error -> {
              assertThat(error.get("code")).isEqualTo(code);
              assertThat(String.valueOf(error.get("message"))).isNotBlank();
            });
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
