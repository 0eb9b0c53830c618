package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.blackbox.control.Rollout;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.Work;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What each route asks of the rollout, and the shape of what it answers. */
class AnswersTest {

  private static final String MESSAGES = "/v1/sessions/sess-1/messages";
  private static final String TURN =
      "{\"turn_id\":\"t1\",%s\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String SYNC = TURN.formatted("");
  private static final String ASYNC = TURN.formatted("\"mode\":\"async\",");

  private DoorFixture fixture;

  @BeforeEach
  void open() throws PortTakenException {
    fixture = new DoorFixture();
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void healthIsAlwaysTheSame() throws IOException {
    RawClient.Reply reply = fixture.get("/health");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.body()).isEqualTo("{\"healthy\":true,\"version\":\"1.1.0\"}");
    assertThat(reply.headers()).containsKey("x-request-id");
    assertThat(fixture.get("/livez").json()).containsOnlyKeys("request_id", "live");
  }

  @Test
  void readinessListsEachCheckWithItsReason() throws IOException {
    assertThat(fixture.get("/readyz").status()).isEqualTo(200);
    fixture.rollout.checks =
        List.of(
            new Rollout.Check("ledger", true, "writes"),
            new Rollout.Check("agent", false, "exited with code 1"));
    RawClient.Reply reply = fixture.get("/readyz");
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.headers()).containsKey("retry-after");
    assertThat(reply.at("ready")).isEqualTo(false);
    assertThat(reply.at("checks"))
        .isEqualTo(
            List.of(
                Map.of("name", "ledger", "ok", true, "reason", "writes"),
                Map.of("name", "agent", "ok", false, "reason", "exited with code 1")));
  }

  @Test
  void statusHasNullsForWhatIsNotBound() throws IOException {
    fixture.rollout.bound = false;
    RawClient.Reply idle = fixture.get("/v1/status");
    assertThat(idle.json())
        .containsOnlyKeys(
            "request_id",
            "status",
            "binding",
            "sessions",
            "capabilities",
            "config",
            "implemented_backends",
            "known_backends",
            "server")
        .contains(entry("status", "idle"), entry("binding", null), entry("capabilities", null));
    fixture.rollout.bound = true;
    RawClient.Reply bound = fixture.get("/v1/status");
    assertThat(bound.body())
        .contains("\"binding\":" + FakeRollout.BINDING)
        .contains(
            "\"sessions\":{\"active_count\":1,\"desynced_count\":2,\"aborted_count\":3,"
                + "\"total_count\":6,\"max_sessions\":1}")
        .contains("\"max_turns\":200");
  }

  @Test
  void aRegistrationReachesTheRolloutAsItWasMeant() throws IOException {
    RawClient.Reply reply =
        fixture.post(
            "/v1/rollout/register",
            "{\"blackbox_type\":\"opencode\",\"router\":\"h:1\",\"bound_session_id\":\"s\","
                + "\"bound_sandbox_id\":null,\"backend_options\":{\"b\":[1,null]},\"surprise\":1,"
                + "\"server_config\":{\"max_turns\":\"7\",\"backend_timeout\":\" 5 \","
                + "\"max_sessions\":true,\"router_timeout\":5.0,\"runtime_root\":\"/r\","
                + "\"execute_cmd_timeout\":null,\"runtime_health_check_retry_delay\":0,"
                + "\"unknown\":{}}}");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.json())
        .containsOnlyKeys("request_id", "status", "binding", "capabilities", "config");
    Rollout.RegisterRequest request = (Rollout.RegisterRequest) fixture.rollout.requests.getFirst();
    assertThat(request.routerApiPath()).isEqualTo("/v1");
    assertThat(request.sessionId()).contains("s");
    assertThat(request.sandboxId()).isEmpty();
    assertThat(request.backendOptions()).containsOnlyKeys("b");
    assertThat(request.serverConfig())
        .containsExactly(
            entry("runtime_root", "/r"),
            entry("max_sessions", 1),
            entry("max_turns", 7),
            entry("backend_timeout", 5.0),
            entry("router_timeout", 5),
            entry("runtime_health_check_retry_delay", 0.0));
  }

  @Test
  void pauseAndResumeNeedNoBody() throws IOException {
    RawClient.Reply paused = fixture.post("/v1/rollout/pause", "");
    assertThat(paused.body())
        .contains(
            "\"status\":\"paused\",\"reason\":\"weight_update\",\"quiesced\":true,\"version\":null,"
                + "\"http_inflight_requests\":0,\"active_sglang_generations\":0,"
                + "\"suspended_generations\":4,\"details\":{")
        .contains("\"mode\":\"preempt\"");
    fixture.post("/v1/rollout/pause", "{\"reason\":\"r\",\"timeout_seconds\":\"1e99\"}");
    RawClient.Reply resumed = fixture.post("/v1/rollout/resume", "{\"version\":\"7\"}");
    assertThat(resumed.json())
        .containsOnlyKeys("request_id", "status", "reason", "version", "details")
        .containsEntry("version", "7");
    fixture.post("/v1/rollout/resume", "null");
    assertThat(fixture.rollout.requests)
        .containsExactly(
            new Requests.Pause("weight_update", Optional.empty()),
            new Requests.Pause("r", Optional.of(1e9)),
            new Requests.Resume("weight_update", Optional.of("7")),
            new Requests.Resume("weight_update", Optional.empty()));
    assertThat(fixture.get("/v1/rollout/pause_state").body())
        .isEqualTo("{\"paused\":false,\"pause_reason\":null,\"version\":null,\"adapter\":{}}");
  }

  @Test
  void aReplayEqualsTheFirstAnswerByteForByte() throws IOException {
    RawClient.Reply first = fixture.post(MESSAGES, SYNC);
    RawClient.Reply replay = fixture.post(MESSAGES, SYNC);
    assertThat(first.status()).isEqualTo(200);
    assertThat(first.body().substring(first.body().indexOf(",\"session_id\"")))
        .isEqualTo(
            ",\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"turn_id\":\"t1\","
                + "\"state\":\"active\",\"idempotent_replay\":false,\"outputs\":"
                + FakeRollout.OUTPUTS
                + ",\"backend\":{\"type\":\"opencode\",\"backend_session_id\":\"ses_1\"},"
                + "\"usage\":{\"total_tokens\":18,\"input_tokens\":11,\"output_tokens\":7,"
                + "\"reasoning_tokens\":0,\"steps\":1,\"tool_calls\":0}}");
    assertThat(withoutId(replay))
        .isEqualTo(
            withoutId(first).replace("\"idempotent_replay\":false", "\"idempotent_replay\":true"));
  }

  @Test
  void aSynchronousSubmissionWaitsForItsTurn() throws IOException {
    fixture.rollout.answersAtOnce = false;
    try (RawClient waiting = fixture.connect()) {
      byte[] body = SYNC.getBytes(StandardCharsets.UTF_8);
      waiting.send(DoorFixture.head("POST", MESSAGES, "application/json", body.length)).send(body);
      await().until(() -> fixture.rollout.calls.contains("await"));
      assertThat(fixture.post(MESSAGES, ASYNC).status()).isEqualTo(202);
      TurnOutcome cancelled =
          new TurnOutcome.Cancelled(
              new TurnError(ErrorCode.CANCELLED, "on request", Map.of("turn_id", "t1")), Work.NONE);
      fixture.rollout.settle("t1", cancelled, SessionState.ACTIVE);
      RawClient.Reply reply = waiting.reply();
      assertThat(reply.status()).isEqualTo(499);
      assertThat(reply.json()).containsOnlyKeys("request_id", "error", "message", "details");
      assertThat(reply.body())
          .endsWith(
              "\"error\":\"cancelled\",\"message\":\"on"
                  + " request\",\"details\":{\"turn_id\":\"t1\"}}");
    }
  }

  @Test
  void anAsynchronousSubmissionIsAcceptedAndPolled() throws IOException {
    fixture.rollout.answersAtOnce = false;
    RawClient.Reply accepted = fixture.post(MESSAGES, ASYNC);
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(withoutId(accepted))
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"turn_id\":\"t1\","
                + "\"status\":\"queued\",\"idempotent_replay\":false}");
    assertThat(fixture.rollout.calls).containsExactly("submit");

    RawClient.Reply open = fixture.get("/v1/sessions/sess-1/turns/t1?wait=0.05");
    assertThat(withoutId(open))
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"turn_id\":\"t1\","
                + "\"status\":\"queued\",\"state\":\"active\",\"outputs\":null,\"usage\":null,"
                + "\"backend\":null,\"error\":null,\"created_at\":\"2026-11-30T12:00:00.000000Z\","
                + "\"updated_at\":\"2026-11-30T12:00:01.500000Z\"}");
    assertThat(fixture.rollout.requests).contains(Optional.of(Duration.ofMillis(50)));

    TurnError overflow =
        new TurnError(ErrorCode.CONTEXT_OVERFLOW, "full", Map.of("context_window", 4096));
    fixture.rollout.settle(
        "t1", new TurnOutcome.Unknown(overflow, Work.NONE), SessionState.DESYNCED);
    RawClient.Reply failed = fixture.get("/v1/sessions/sess-1/turns/t1?wait=inf");
    assertThat(failed.body())
        .contains("\"status\":\"unknown\"", "\"outputs\":null,\"usage\":null,\"backend\":null")
        .contains(
            "\"error\":{\"error\":\"context_overflow\",\"message\":\"full\","
                + "\"details\":{\"context_window\":4096},\"http_status\":413}");
    assertThat(fixture.post(MESSAGES, SYNC).status()).isEqualTo(413);
  }

  @Test
  void aPollWaitsNoLongerThanItMay() throws IOException {
    fixture.close();
    try (DoorFixture small = new DoorFixture(DoorFixture.SMALL)) {
      small.rollout.answersAtOnce = false;
      small.post(MESSAGES, ASYNC);
      assertThat(small.get("/v1/sessions/sess-1/turns/t1?wait=1000").status()).isEqualTo(200);
      assertThat(small.rollout.requests).contains(Optional.of(Duration.ofSeconds(1)));
    } catch (PortTakenException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  void cancelAndAbortIgnoreTheirBodies() throws IOException {
    fixture.post(MESSAGES, SYNC);
    RawClient.Reply cancelled = fixture.post("/v1/sessions/sess-1/turns/t1/cancel", "garbage");
    assertThat(withoutId(cancelled))
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"turn_id\":\"t1\","
                + "\"status\":\"cancel_requested\",\"state\":\"active\"}");
    RawClient.Reply aborted = fixture.post("/v1/sessions/sess-1/abort", "garbage");
    assertThat(withoutId(aborted))
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"action\":\"abort\","
                + "\"state\":\"aborted\",\"mode\":\"best_effort\"}");
  }

  @Test
  void aCommandIsAnsweredWithItsResult() throws IOException {
    RawClient.Reply reply =
        fixture.post(
            "/v1/sessions/sess-1/execute_cmd",
            "{\"cmd\":\" a\\u0000b\",\"timeout\":\"5\",\"cwd\":\"/\"}");
    assertThat(reply.json())
        .containsOnlyKeys(
            "request_id",
            "cmd",
            "stdout",
            "stderr",
            "returncode",
            "timed_out",
            "duration_seconds",
            "started_at",
            "finished_at",
            "session_id",
            "instance_id");
    assertThat(fixture.rollout.requests)
        .startsWith(
            new Rollout.ExecuteRequest("sess-1", Optional.empty(), " a\0b", Optional.of(5.0)));
    fixture.post("/v1/sessions/sess-1/execute_cmd", "{\"cmd\":\"x\",\"timeout\":Infinity}");
    fixture.post("/v1/sessions/sess-1/execute_cmd", "{\"cmd\":\"x\",\"timeout\":true}");
    assertThat(fixture.rollout.requests)
        .contains(
            new Rollout.ExecuteRequest("sess-1", Optional.empty(), "x", Optional.of(1e9)),
            new Rollout.ExecuteRequest("sess-1", Optional.empty(), "x", Optional.of(1.0)));
  }

  @Test
  void aSessionShowsWhatWasAskedFor() throws IOException {
    fixture.rollout.prompt = Optional.of(new SessionSnapshot.SystemPrompt("/p.txt", "Be brief."));
    fixture.post(MESSAGES, SYNC);
    fixture.rollout.answersAtOnce = false;
    fixture.post(MESSAGES, ASYNC.replace("t1", "t2"));
    String bare = withoutId(fixture.get("/v1/sessions/sess-1"));
    assertThat(bare)
        .isEqualTo(
            "{\"session_id\":\"sess-1\",\"instance_id\":\"inst-1\",\"state\":\"active\","
                + "\"blackbox_type\":\"opencode\",\"backend_session_id\":\"ses_1\","
                + "\"message_count\":4,\"turn_count\":2,"
                + "\"created_at\":\"2026-11-30T12:00:00.000000Z\","
                + "\"updated_at\":\"2026-11-30T12:00:00.000000Z\",\"conversation_history\":null,"
                + "\"trace_events\":null,\"turn_ledger\":null}");
    RawClient.Reply full =
        fixture.get("/v1/sessions/sess-1?include_history=1&include_trace=yes&include_turns=on");
    assertThat(full.headers()).containsEntry("content-type", "application/json");
    String user =
        "{\"role\":\"user\",\"content\":\"hi\",\"reasoning_content\":null,"
            + "\"tool_calls\":null,\"tool_call_id\":null,\"name\":null}";
    String answer = FakeRollout.OUTPUTS.substring(1, FakeRollout.OUTPUTS.length() - 1);
    assertThat(full.body())
        .contains(
            "\"conversation_history\":["
                + user.replace("user", "system").replace("hi", "Be brief.")
                + ","
                + user
                + ","
                + answer
                + "],")
        .contains(
            "\"trace_events\":[{\"turn_id\":\"__init__\",\"seq\":0,\"source\":\"blackbox_server\","
                + "\"event_type\":\"system_prompt_injected\",\"payload\":{\"source_file\":\"/p.txt\","
                + "\"content_length\":9},\"created_at\":\"2026-11-30T12:00:00.000000Z\"},"
                + FakeRollout.TRACE.substring(1)
                + ",")
        .contains(
            "\"response\":{\"outputs\":"
                + FakeRollout.OUTPUTS
                + ",\"trace_events\":"
                + FakeRollout.TRACE)
        .contains("\"t2\":{\"turn_id\":\"t2\"", "\"response\":null,\"error\":null");
    assertThat(full.at("turn_ledger")).isInstanceOf(Map.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "application/json",
        "Application/JSON ; charset=latin-1",
        "application/vnd.api+json"
      })
  void jsonComesUnderSeveralNames(String contentType) throws IOException {
    byte[] body = SYNC.getBytes(StandardCharsets.UTF_8);
    assertThat(fixture.post(MESSAGES, contentType, body).status()).isEqualTo(200);
  }

  @Test
  void aByteOrderMarkAndARepeatedKeyAreTaken() throws IOException {
    RawClient.Reply reply =
        fixture.post(MESSAGES, "\uFEFF" + SYNC.replace("{\"turn", "{\"turn_id\":\"-\",\"turn"));
    assertThat(reply.at("turn_id")).isEqualTo("t1");
  }

  @Test
  void aTurnIdOfAMegabyteIsRefusedAndNotRepeated() throws IOException {
    RawClient.Reply reply = fixture.post(MESSAGES, SYNC.replace("t1", "a".repeat(1 << 20)));
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.body().length()).isLessThan(1000);
  }

  @Test
  void everyFailureOfTheRolloutHasTheOneErrorBody() throws IOException {
    for (ErrorCode code : ErrorCode.values()) {
      fixture.rollout.failure = Optional.of(Problem.of(code, "why", Map.of("k", "v")));
      RawClient.Reply reply = fixture.get("/v1/status");
      assertThat(reply.status()).isEqualTo(code.httpStatus());
      assertThat(withoutId(reply))
          .isEqualTo(
              "{\"error\":\""
                  + code.wireName()
                  + "\",\"message\":\"why\",\"details\":{\"k\":\"v\"}}");
      assertThat(reply.headers().containsKey("retry-after"))
          .isEqualTo(code.httpStatus() == 503 || code.httpStatus() == 429);
      assertThat(reply.headers()).containsEntry("cache-control", "no-store");
    }
  }

  @Test
  void aBugSaysNothingOfItselfAndIsLogged() throws IOException {
    try (LogCapture log = new LogCapture(Dispatcher.class)) {
      fixture.rollout.failure = Optional.of(new IllegalStateException("s3cret"));
      for (String path : List.of("/v1/status", "/v1/sessions/sess-1?include_turns=1")) {
        RawClient.Reply reply = fixture.get(path);
        assertThat(reply.status()).isEqualTo(500);
        assertThat(reply.at("error")).isEqualTo("internal_error");
        assertThat(reply.body()).doesNotContain("s3cret", "IllegalState");
        String requestId = String.valueOf(reply.headers().get("x-request-id"));
        assertThat(String.valueOf(reply.at("message"))).contains(requestId);
        assertThat(log.lines().getLast()).startsWith("SEVERE " + requestId + " GET /v1/s");
      }
      assertThat(log.lines()).hasSize(2);
    }
  }

  @Test
  void anAnswerThatFailsBeforeItIsSentBecomesAnErrorAndLaterIsBrokenOff() throws IOException {
    fixture.rollout.failsAfterTurns = Optional.of(new IllegalStateException("s3cret"));
    try (LogCapture log = new LogCapture(Dispatcher.class)) {
      assertThat(fixture.get("/v1/sessions/sess-1?include_turns=1").status()).isEqualTo(500);
      fixture.rollout.manyTurns = 1000;
      try (RawClient client = fixture.connect()) {
        client.send("GET /v1/sessions/sess-1?include_turns=1 HTTP/1.1\r\nHost: t\r\n\r\n");
        assertThatThrownBy(client::reply).isInstanceOf(EOFException.class);
      }
      assertThat(log.lines()).hasSize(2);
    }
  }

  @Test
  void aRequestLeavesNoLineInTheLogAndNoBodyEvenInItsDebugLine() throws IOException {
    try (LogCapture log = new LogCapture(Dispatcher.class)) {
      fixture.post(MESSAGES + "?token=s3cret", SYNC.replace("hi", "s3cret"));
      fixture.post(MESSAGES, "{\"s3cret\":");
      assertThat(log.lines()).isEmpty();
      log.everything();
      fixture.post(MESSAGES + "?token=s3cret", SYNC.replace("hi", "s3cret"));
      // Written after the answer; lines of the two requests before may come late as well.
      await().until(() -> log.lines().stream().anyMatch(line -> line.contains(" 200 in ")));
      assertThat(log.lines())
          .allSatisfy(
              line ->
                  assertThat(line)
                      .matches("FINE req-[0-9a-f]{8} POST " + MESSAGES + " [24]00 in \\d+ us"));
    }
  }

  private static ConditionFactory await() {
    return Awaitility.await().atMost(Duration.ofSeconds(10));
  }

  private static String withoutId(RawClient.Reply reply) {
    String prefix = "{\"request_id\":\"" + reply.headers().get("x-request-id") + "\",";
    assertThat(reply.body()).startsWith(prefix);
    return "{" + reply.body().substring(prefix.length());
  }
}
