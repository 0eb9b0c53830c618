package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import java.io.EOFException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Agents that speak what the engine does not speak: whole calls, from the socket to the record. */
class DialectDoorTest {

  private static final Step ANSWER =
      Step.of(
          new Part.Reasoning("Let me see."),
          new Part.Text("A longer answer in several events."),
          new Part.ToolCall("bash", "{\"command\": \"ls\"}"));

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(ANSWER));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void aWholeAnswerIsTranslatedAndRecorded(Tongue tongue) throws Exception {
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(false));

      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      assertThat(answer.headers()).containsEntry("content-type", "application/json");
      assertThat(answer.body())
          .contains("Let me see.", "A longer answer in several events.", "\"bash\"")
          .contains(tongue == Tongue.ANTHROPIC ? "\"stop_reason\":\"tool_use\"" : "\"completed\"");
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertRecorded(tongue, turn, false);
    }
    assertThat(rig.engine.chatRequests())
        .singleElement()
        .satisfies(
            asked -> {
              assertThat(asked.path()).isEqualTo("/v1/chat/completions");
              assertThat(asked.header("x-turn-id")).contains("t1");
              assertThat(asked.headers()).doesNotContainKeys("authorization", "x-api-key");
              assertThat(asked.bodyText()).contains("\"content\":\"hi\"");
            });
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void aStreamIsTranslatedEventByEventAndRecorded(Tongue tongue) throws Exception {
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));

      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      assertThat(answer.headers().get("content-type")).startsWith("text/event-stream");
      assertThat(answer.ended()).isTrue();
      List<Map<String, Object>> events = Tongue.events(answer);
      assertThat(events.getLast()).containsEntry("type", tongue.lastEvent());
      assertThat(events)
          .filteredOn(event -> text(event, "type").endsWith("delta"))
          .hasSizeGreaterThan(5);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertRecorded(tongue, turn, true);
    }
    assertThat(rig.engine.chatRequests().getFirst().bodyText())
        .contains("\"stream_options\":{\"include_usage\":true}");
  }

  @ParameterizedTest
  @CsvSource({
    "ANTHROPIC,hi,,main",
    "ANTHROPIC,hi,x-claude-code-agent-id: a-1,subagent",
    "ANTHROPIC,CRITICAL: Respond with TEXT ONLY. Sum up.,,compaction",
    "RESPONSES,You are performing a CONTEXT CHECKPOINT COMPACTION. Sum up.,,compaction",
    "RESPONSES,hi,,main",
    "RESPONSES,hi,x-openai-subagent: compact,compaction",
    "RESPONSES,hi,x-openai-subagent: review,subagent",
    "RESPONSES,hi,x-codex-parent-thread-id: th-1,subagent",
    "CHAT,hi,x-parent-session-id: ses_1,subagent",
    "CHAT,hi,x-session-affinity: ses_1,main",
    "CHAT,You are a title generator. You output ONLY a thread title.,,main"
  })
  void sideCallsAreToldFromTheMainLoops(Tongue tongue, String text, String header, String purpose)
      throws Exception {
    try (TurnScope turn = rig.openTurn("t1")) {
      String[] headers = header == null ? new String[0] : new String[] {header};
      TestAgent.Answer answer =
          tongue.ask(rig, tongue.body(false).replace("\"hi\"", "\"" + text + "\""), headers);
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.started().getFirst().purpose()).isEqualTo(purpose);
    }
  }

  /** Requests as opencode 1.18.33 makes them, with the beginnings of its own prompts. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "system|'\"You are a title generator. You output ONLY a thread title.\"'|title",
        "system|'\"You are a context summarization agent. You are given a\"'|compaction",
        "developer|'[{\"type\":\"text\",\"text\":\"You are a title generator. Now\"}]'|title",
        "system|'\"You are opencode. You are a title generator.\"'|main",
        "user|'\"You are a title generator.\"'|main",
        "system|null|main"
      })
  void chatSideCallsAreKnownByTheirSystemText(String role, String content, String purpose)
      throws Exception {
    try (TurnScope turn = rig.openTurn("t1")) {
      String body =
          "{\"model\":\"m\",\"messages\":[{\"content\":%s,\"role\":\"%s\",\"name\":{\"role\":1}},"
                  .formatted(content, role)
              + "{\"role\":\"user\",\"content\":\"Generate a title for this conversation:\"}]}";
      assertThat(rig.chat(body).status()).isEqualTo(200);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.started().getFirst().purpose()).isEqualTo(purpose);
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
  }

  private void assertRecorded(Tongue tongue, TurnScope turn, boolean stream) {
    CallSink.CallStarted started = rig.sink.started().getFirst();
    assertThat(started.dialect()).isEqualTo(tongue.recorded());
    assertThat(started.stream()).isEqualTo(stream);
    assertThat(started.model()).isEqualTo("m-1");
    CallSink.CallEnded end = rig.sink.onlyEnd();
    assertThat(end.verdict()).isEqualTo("ok");
    assertThat(end.toolCalls()).isEqualTo(1);
    assertThat(end.finishReason()).hasValue("tool_calls");
    assertThat(end.requestHash())
        .hasValue(Fingerprints.sha256Hex(rig.engine.chatRequests().getFirst().body()));
    assertThat(end.responseHash()).hasValueSatisfying(hash -> assertThat(hash).hasSize(64));
    assertThat(end.sentAt().orElseThrow()).isBetween(started.at(), end.firstByteAt().orElseThrow());
    assertThat(turn.totals().steps()).isEqualTo(1);
    assertThat(turn.totals().promptTokens()).isEqualTo(rig.engine.usageReported().promptTokens());
    assertThat(turn.totals().completionTokens())
        .isEqualTo(rig.engine.usageReported().completionTokens());
  }

  /** A delta is at the agent before the engine has the next one. */
  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void whatComesGoesOutAtOnce(Tongue tongue) throws Exception {
    Duration pause = Duration.ofMillis(400);
    rig.engine.script(
        EngineScript.always(
            Step.text("one two").withChunkCharacters(4).withDelayBetweenEvents(pause)));
    try (TurnScope _ = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      tongue.send(agent, tongue.body(true));
      agent.head();
      StringBuilder got = new StringBuilder();
      while (got.indexOf("one ") < 0) {
        got.append(agent.chunk());
      }
      assertThat(got.toString()).doesNotContain("two");
      assertThat(rig.sink.ended()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void p9AFaultBeforeTheFirstEventIsAnErrorThatIsNotRetried(Tongue tongue) throws Exception {
    for (Fault fault :
        List.of(
            new Fault.CutAfterEvents(0, false),
            new Fault.InsertAfterEvents(0, "data: nonsense\n\n"),
            new Fault.Instead(200, "text/html", "<html>", Optional.empty()),
            Fault.Instead.error(500, "{\"detail\":\"boom\"}"),
            Fault.InsertAfterEvents.errorFrame(0, "{\"message\":\"boom\"}"))) {
      rig.engine.script(EngineScript.always(ANSWER.with(fault)));
      try (TurnScope turn = rig.openTurn("t1")) {
        TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
        assertError(answer, tongue, 400, "upstream_error");
        assertThat(answer.headers()).containsEntry("x-should-retry", "false");
        assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
        assertThat(turn.verdict())
            .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.UpstreamFailed.class));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void p9AFaultWithinTheStreamIsTheDialectsErrorEvent(Tongue tongue) throws Exception {
    for (Fault fault :
        List.of(
            new Fault.CutAfterEvents(3, false),
            new Fault.EndAfterEvents(3),
            new Fault.NoFinishReason(),
            Fault.InsertAfterEvents.errorFrame(3, "{\"message\":\"boom\"}"))) {
      rig.engine.script(EngineScript.always(ANSWER.with(fault)));
      try (TurnScope turn = rig.openTurn("t1")) {
        TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(Tongue.events(answer).getLast()).containsEntry("type", tongue.errorEvent());
        assertThat(answer.body())
            .doesNotContain(tongue.lastEvent() + "\"")
            .doesNotContain("\"bash\"");
        assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
        assertThat(rig.sink.ended().getLast().verdict()).isIn("truncated", "upstream_error");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"ANTHROPIC,true", "ANTHROPIC,false", "RESPONSES,true", "RESPONSES,false"})
  void p9BrokenToolArgumentsAreNeverLetOut(Tongue tongue, boolean stream) throws Exception {
    rig.engine.script(
        EngineScript.always(
            Step.of(new Part.Text("so"), new Part.ToolCall("bash", "{\"command\": \"rm"))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(stream));
      assertThat(answer.body()).doesNotContain("rm");
      if (stream) {
        assertThat(Tongue.events(answer).getLast()).containsEntry("type", tongue.errorEvent());
      } else {
        assertError(answer, tongue, 400, "upstream_error");
      }
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("upstream_error");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void overflowIsSaidSoThatTheAgentCompacts(Tongue tongue) throws Exception {
    rig.engine.script(
        EngineScript.always(
            ANSWER.with(
                Fault.Instead.error(
                    413,
                    "{\"error\":\"context_overflow\",\"message\":\"too much\",\"details\":"
                        + "{\"context_window\":4096,\"input_tokens\":5000}}"))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertError(answer, tongue, 400, "invalid_request_error");
      assertThat(answer.body())
          .contains(
              tongue == Tongue.ANTHROPIC
                  ? "prompt is too long: 5000 tokens > 4096 maximum"
                  : "\"code\":\"context_length_exceeded\"");
      assertThat(turn.verdict())
          .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.ContextOverflow.class));
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("context_overflow");
    }
  }

  /** Claude Code would call again after an empty answer; Codex ends its turn at one. */
  @ParameterizedTest
  @CsvSource({"ANTHROPIC,true", "ANTHROPIC,false", "RESPONSES,true", "RESPONSES,false"})
  void aVoidRolloutEndsTheAgent(Tongue tongue, boolean stream) throws Exception {
    rig.engine.script(
        EngineScript.always(
            ANSWER.with(
                Fault.Instead.error(
                    502,
                    "{\"detail\":{\"error\":\"generation_preempted\",\"message\":\"new"
                        + " weights\"}}"))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(stream));
      if (tongue == Tongue.ANTHROPIC) {
        assertError(answer, tongue, 400, "invalid_request_error");
        assertThat(answer.headers()).containsEntry("x-should-retry", "false");
      } else {
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body())
            .contains("\"status\":\"completed\"")
            .doesNotContain("new weights");
      }
      assertThat(turn.verdict())
          .hasValue(new Verdict.RolloutInvalidated("generation_preempted", "new weights"));
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("rollout_invalidated");
      // Claude Code sends the same again with fewer features; the engine has nothing to do with it.
      assertThat(tongue.ask(rig, tongue.body(stream)).body().replaceAll("\"created_at\":\\d+", ""))
          .isEqualTo(answer.body().replaceAll("\"created_at\":\\d+", ""));
      assertThat(rig.engine.chatRequests()).hasSize(1);
      assertThat(turn.totals().steps()).isEqualTo(1);
      assertThat(rig.sink.refused().getFirst().reason()).isEqualTo("rollout_invalidated");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void theStepBudgetEndsTheAgent(Tongue tongue) throws Exception {
    rig.proxy.bind(
        rig.binding(
            new ProxyOptions("X-SMG-Routing-Key", OptionalInt.of(1), OptionalDouble.of(0.5))));
    try (TurnScope turn = rig.openTurn("t1")) {
      assertThat(tongue.ask(rig, tongue.body(false)).status()).isEqualTo(200);
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertError(answer, tongue, 429, "rate_limit_error");
      assertThat(answer.body())
          .contains("\"code\":\"max_steps_exceeded\"", "{\"max_steps\":1,\"attempted_step\":1}");
      assertThat(answer.headers()).containsEntry("x-should-retry", "false");
      assertThat(turn.stopDemanded()).isCompletedWithValue(new Verdict.StepsExceeded(1, 1));
    }
    assertThat(rig.engine.chatRequests())
        .singleElement()
        .satisfies(asked -> assertThat(asked.bodyText()).contains("\"temperature\":0.5"));
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void refusalsAreInTheDialect(Tongue tongue) throws Exception {
    assertError(tongue.ask(rig, tongue.body(true)), tongue, 400, "invalid_request_error");
    try (TurnScope turn = rig.openTurn("t1");
        TestAgent agent = rig.agent()) {
      agent.send(
          "POST", tongue.path(), Tongue.bytes(tongue.body(true)), "Authorization: Bearer wrong");
      TestAgent.Answer wrongKey = agent.answer();
      // Claude Code retries 401, Codex 401 and 403.
      assertError(
          wrongKey,
          tongue,
          tongue == Tongue.ANTHROPIC ? 403 : 400,
          tongue == Tongue.ANTHROPIC ? "permission_error" : "authentication_error");
      for (String bad :
          List.of("", "{", "[]", "{\"model\":\"m\"}", "{\"model\":\"\\ud83d\"}", "\u00ff")) {
        assertError(tongue.ask(rig, bad), tongue, 400, "invalid_request_error");
      }
      assertThat(turn.totals().steps()).isZero();
    }
    rig.proxy.unbind();
    TestAgent.Answer unbound = tongue.ask(rig, tongue.body(true));
    assertError(
        unbound,
        tongue,
        tongue == Tongue.ANTHROPIC ? 529 : 429,
        tongue == Tongue.ANTHROPIC ? "overloaded_error" : "server_error");
    assertThat(unbound.headers()).containsEntry("retry-after", "1");
  }

  @ParameterizedTest
  @EnumSource(names = {"ANTHROPIC", "RESPONSES"})
  void aTurnThatClosesEndsItsCallsInTheDialect(Tongue tongue) throws Exception {
    rig.engine.script(
        EngineScript.always(Step.text("one two").with(new Fault.Stall(2, Duration.ofSeconds(30)))));
    TurnScope turn = rig.openTurn("t1");
    try (TestAgent agent = rig.agent()) {
      tongue.send(agent, tongue.body(true));
      agent.head();
      StringBuilder got = new StringBuilder();
      while (got.indexOf("one two") < 0) {
        got.append(agent.chunk());
      }
      turn.close();
      try {
        for (String chunk = agent.chunk(); !chunk.isEmpty(); chunk = agent.chunk()) {
          got.append(chunk);
        }
        assertThat(got.toString()).contains("event: " + tongue.errorEvent(), "turn");
      } catch (EOFException cut) {
        // The proxy was still at the write of "one two", which closing a turn breaks off.
        assertThat(got.toString()).doesNotContain(tongue.lastEvent() + "\"");
      }
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("turn_closed");
    }
  }

  @Test
  void tokensAreCountedWithoutAStepOrATurn() throws Exception {
    try (TestAgent agent = rig.agent()) {
      agent.send(
          "POST",
          "/v1/messages/count_tokens?beta=true",
          Tongue.bytes(Tongue.ANTHROPIC.body(false).replace("hi", "x".repeat(400))),
          "x-api-key: " + ProxyRig.KEY);
      TestAgent.Answer answer = agent.answer();
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("{\"input_tokens\":100}");
    }
    assertThat(rig.engine.requests()).isEmpty();
    assertThat(rig.sink.started()).isEmpty();
  }

  private static void assertError(TestAgent.Answer answer, Tongue tongue, int status, String type) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.ended()).isTrue();
    assertThat(answer.headers()).containsEntry("content-type", "application/json");
    Map<String, Object> tree = Json.object(answer.body());
    if (tongue == Tongue.ANTHROPIC) {
      assertThat(tree).containsEntry("type", "error");
    }
    assertThat(tree.get("error"))
        .isInstanceOfSatisfying(
            Map.class,
            error -> {
              assertThat(error.get("type")).isEqualTo(type);
              assertThat(String.valueOf(error.get("message"))).isNotBlank();
            });
  }

  private static String text(Map<String, Object> event, String key) {
    return String.valueOf(event.get(key));
  }
}
