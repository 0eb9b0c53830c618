package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.control.Rollout;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What HTTP has conventions for, in addition to what the reference server does. */
class ConventionsTest {

  private static final String MESSAGES = "/v1/sessions/sess-1/messages";
  private static final String TURN = "/v1/sessions/sess-1/turns/t1";
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private DoorFixture fixture;

  @BeforeEach
  void open() throws PortTakenException {
    fixture = new DoorFixture();
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /**
   * @param fields of the body before its messages, for example {@code "turn_id":"t1",}
   */
  private RawClient.Reply submit(String fields, String... headers) throws IOException {
    try (RawClient client = fixture.connect()) {
      sendSubmit(client, fields, headers);
      return client.reply();
    }
  }

  private static void sendSubmit(RawClient client, String fields, String... headers)
      throws IOException {
    String body = "{" + fields + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    client.send(
        DoorFixture.head("POST", MESSAGES, "application/json", bytes.length)
            .replace("Host: t\r\n", "Host: t\r\n" + lines(headers)));
    client.send(bytes);
  }

  private static String lines(String... headers) {
    return headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
  }

  private RawClient.Reply get(String path, String... headers) throws IOException {
    return fixture.exchange("GET " + path + " HTTP/1.1\r\nHost: t\r\n" + lines(headers) + "\r\n");
  }

  private void settle(TurnOutcome outcome) {
    fixture.rollout.settle("t1", outcome, SessionState.ACTIVE);
  }

  private static TurnOutcome failed() {
    return new TurnOutcome.Failed(
        new TurnError(ErrorCode.BACKEND_ERROR, "down", Map.of()), Work.NONE);
  }

  private List<Rollout.SubmitRequest> submitted() {
    return fixture.rollout.requests.stream()
        .filter(Rollout.SubmitRequest.class::isInstance)
        .map(Rollout.SubmitRequest.class::cast)
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"t1", "\"t1\"", " \"t1\" ", "\"t\\\\1\""})
  void anIdempotencyKeyIsATurnId(String key) throws IOException {
    String id = key.contains("\\") ? "t\\1" : "t1";
    RawClient.Reply reply = submit("", "Idempotency-Key: " + key);
    assertThat(submitted().getFirst().turnId()).contains(id);
    assertThat(reply.status()).isEqualTo(id.equals("t1") ? 200 : 400);
  }

  @Test
  void aKeyAndATurnIdMustAgree() throws IOException {
    assertThat(submit("\"turn_id\":\"t1\",", "Idempotency-Key: t1").status()).isEqualTo(200);
    RawClient.Reply differing = submit("\"turn_id\":\"t1\",", "Idempotency-Key: \"t2\"");
    assertThat(differing.status()).isEqualTo(400);
    assertThat(differing.faults())
        .containsExactly("idempotency_key_mismatch header.idempotency-key");
    assertThat(submit("", "Idempotency-Key: a", "Idempotency-Key: b").status()).isEqualTo(400);
    assertThat(submitted()).hasSize(1);
  }

  @Test
  void anEmptyKeyIsNoTurnId() throws IOException {
    assertThat(submit("", "Idempotency-Key: \"\"").status()).isEqualTo(400);
    assertThat(submit("", "Idempotency-Key: \"open").status()).isEqualTo(400);
  }

  @Test
  void aReplayIsMarkedWhateverItRepeats() throws IOException {
    assertThat(submit("\"turn_id\":\"t1\",").headers()).doesNotContainKey("idempotent-replayed");
    assertThat(submit("\"turn_id\":\"t1\",").headers())
        .containsEntry("idempotent-replayed", "true");
    assertThat(submit("\"turn_id\":\"t1\",\"mode\":\"async\",").headers())
        .containsEntry("idempotent-replayed", "true");
    fixture.rollout.answersAtOnce = false;
    submit("\"turn_id\":\"t2\",\"mode\":\"async\",");
    fixture.rollout.settle("t2", failed(), SessionState.ACTIVE);
    RawClient.Reply error = submit("\"turn_id\":\"t2\",");
    assertThat(error.status()).isEqualTo(502);
    assertThat(error.headers()).containsEntry("idempotent-replayed", "true");
  }

  @Test
  void anAcceptedTurnSaysWhereItIsAndWhenToAsk() throws IOException {
    fixture.rollout.answersAtOnce = false;
    RawClient.Reply accepted = submit("\"turn_id\":\"t1\",\"mode\":\"async\",");
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.headers())
        .containsEntry("location", TURN)
        .containsEntry("retry-after", "1")
        .containsEntry("cache-control", "no-store")
        .doesNotContainKey("preference-applied");
    assertThat(fixture.get(String.valueOf(accepted.headers().get("location"))).status())
        .isEqualTo(200);
  }

  @Test
  void respondAsyncIsAskedForByHeaderToo() throws IOException {
    fixture.rollout.answersAtOnce = false;
    RawClient.Reply accepted = submit("\"turn_id\":\"t1\",", "Prefer: respond-async");
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.headers()).containsEntry("preference-applied", "respond-async");
    assertThat(submitted().getFirst().async()).isTrue();
    assertThat(fixture.rollout.calls).doesNotContain("await");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "respond-async, wait=1 | respond-async, wait=1",
        "WAIT=\"1\" ; x=y , RESPOND-ASYNC, wait=9 | respond-async, wait=1",
        "wait=1 | wait=1"
      })
  void aWaitEndsWithAnAcceptedTurn(String prefer, String applied) throws IOException {
    fixture.rollout.answersAtOnce = false;
    RawClient.Reply reply = submit("\"turn_id\":\"t1\",", "Prefer: " + prefer);
    assertThat(reply.status()).isEqualTo(202);
    assertThat(reply.headers())
        .containsEntry("preference-applied", applied)
        .containsKeys("location", "retry-after");
    assertThat(fixture.rollout.requests).contains(Optional.of(Duration.ofSeconds(1)));
  }

  @Test
  void aTurnThatSettlesWithinTheWaitIsAnsweredWhole() throws IOException {
    fixture.rollout.answersAtOnce = false;
    try (RawClient waiting = fixture.connect()) {
      sendSubmit(waiting, "\"turn_id\":\"t1\",\"mode\":\"async\",", "Prefer: wait=30");
      awaitCall("await", 1);
      settle(FakeRollout.committed());
      RawClient.Reply reply = waiting.reply();
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.at("outputs")).isInstanceOf(List.class);
      assertThat(reply.headers()).containsEntry("preference-applied", "wait=30");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"wait", "wait=", "wait=-1", "wait=x", "wait=1.5", "respond-async=no", "x, ,=;"})
  void aPreferenceThatMakesNoSenseIsIgnored(String prefer) throws IOException {
    RawClient.Reply reply = submit("\"turn_id\":\"t1\",", "Prefer: " + prefer);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.headers()).doesNotContainKey("preference-applied");
  }

  @Test
  void aModeThatIsSpelledOutIsKept() throws IOException {
    RawClient.Reply reply =
        submit("\"turn_id\":\"t1\",\"mode\":\"sync\",", "Prefer: respond-async, wait=1");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.headers()).doesNotContainKey("preference-applied");
    assertThat(submitted().getFirst().async()).isFalse();
  }

  @Test
  void aPollMayWaitByHeader() throws IOException {
    fixture.rollout.answersAtOnce = false;
    submit("\"turn_id\":\"t1\",\"mode\":\"async\",");
    assertThat(get(TURN, "Prefer: wait=1").headers()).containsEntry("preference-applied", "wait=1");
    assertThat(fixture.rollout.requests).contains(Optional.of(Duration.ofSeconds(1)));
    assertThat(get(TURN + "?wait=0", "Prefer: wait=30").headers())
        .doesNotContainKey("preference-applied");
    settle(failed());
    assertThat(get(TURN, "Prefer: wait=99999999999999").headers())
        .containsEntry("preference-applied", "wait=60");
  }

  @Test
  void aPollOfWhatIsKnownGetsNothing() throws IOException {
    fixture.rollout.answersAtOnce = false;
    submit("\"turn_id\":\"t1\",\"mode\":\"async\",");
    String queued = tag(get(TURN));
    assertThat(queued).matches("W/\"[0-9a-f]+\"");
    try (RawClient client = fixture.connect()) {
      client.send(
          "GET " + TURN + " HTTP/1.1\r\nHost: t\r\nIf-None-Match: \"x\", " + queued + "\r\n\r\n");
      RawClient.Reply unchanged = client.reply(false);
      assertThat(unchanged.status()).isEqualTo(304);
      assertThat(unchanged.headers())
          .containsEntry("etag", queued)
          .containsEntry("cache-control", "no-store")
          .containsKey("x-request-id")
          .doesNotContainKeys("transfer-encoding", "content-type");
      // There was no body: the next answer is in step.
      client.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n");
      assertThat(client.reply().body()).contains("1.1.0");
    }
    settle(FakeRollout.committed());
    RawClient.Reply changed = get(TURN, "If-None-Match: " + queued);
    assertThat(changed.status()).isEqualTo(200);
    assertThat(tag(changed)).isNotEqualTo(queued);
    assertThat(notModified(tag(changed))).isTrue();
    assertThat(notModified("*")).isTrue();
    assertThat(notModified(tag(changed).substring(2))).isTrue();
    assertThat(notModified("nonsense, \"")).isFalse();
  }

  @Test
  void aPollWaitsWhileWhatIsKnownIsUnchanged() throws IOException {
    fixture.rollout.answersAtOnce = false;
    submit("\"turn_id\":\"t1\",\"mode\":\"async\",");
    String queued = tag(get(TURN));
    assertThat(statusOf(TURN + "?wait=0.1", queued)).isEqualTo(304);
    // Not what the client knows: no wait at all.
    long awaited = count("await");
    assertThat(statusOf(TURN + "?wait=30", "\"other\"")).isEqualTo(200);
    assertThat(count("await")).isEqualTo(awaited);
    try (RawClient starts = fixture.connect();
        RawClient settles = fixture.connect()) {
      starts.send(poll(TURN + "?wait=30", queued));
      awaitCall("await", awaited + 1);
      fixture.rollout.start("t1");
      RawClient.Reply inflight = starts.reply();
      assertThat(inflight.at("status")).isEqualTo("inflight");
      settles.send(poll(TURN + "?wait=30", tag(inflight)));
      awaitCall("await", count("await") + 1);
      settle(failed());
      assertThat(settles.reply().at("status")).isEqualTo("failed");
    }
  }

  private static String poll(String path, String known) {
    return "GET " + path + " HTTP/1.1\r\nHost: t\r\nIf-None-Match: " + known + "\r\n\r\n";
  }

  private boolean notModified(String known) throws IOException {
    return statusOf(TURN, known) == 304;
  }

  private int statusOf(String path, String known) throws IOException {
    try (RawClient client = fixture.connect()) {
      return client.send(poll(path, known)).reply(false).status();
    }
  }

  private static String tag(RawClient.Reply reply) {
    return String.valueOf(reply.headers().get("etag"));
  }

  private long count(String call) {
    return fixture.rollout.calls.stream().filter(call::equals).count();
  }

  private void awaitCall(String call, long times) {
    Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> count(call) >= times);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/problem+json | true",
        "application/json;q=0.5, Application/Problem+JSON | true",
        "application/json, application/problem+json;q=0.5 | false",
        "application/problem+json;q=0 | false",
        "application/problem+json;q=x | false",
        "*/* | false",
        "application/json | false"
      })
  void errorsAreProblemDocumentsForThoseWhoAskForThem(String accept, boolean wanted)
      throws IOException {
    RawClient.Reply reply = get("/v1/sessions/sess-1/turns/none", "Accept: " + accept);
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.headers())
        .containsEntry("content-type", wanted ? "application/problem+json" : "application/json");
    Map<String, @Nullable Object> body = reply.json();
    assertThat(body).containsKeys("request_id", "error", "message", "details");
    if (wanted) {
      assertThat(body)
          .containsEntry("type", "about:blank")
          .containsEntry("title", "Not Found")
          .containsEntry("status", 404)
          .containsEntry("detail", "Turn does not exist.");
    } else {
      assertThat(body).doesNotContainKey("title");
    }
    assertThat(get("/health", "Accept: " + accept).headers())
        .containsEntry("content-type", "application/json");
  }

  @Test
  void aTraceIsKeptWithItsTurn() throws IOException {
    submit(
        "\"turn_id\":\"t1\",\"metadata\":{\"a\":1,\"tracestate\":\"old\"},",
        "Traceparent: " + PARENT,
        "tracestate: x=1",
        "tracestate: y=2");
    assertThat(submitted().getFirst().metadata())
        .isEqualTo(Map.of("a", 1, "traceparent", PARENT, "tracestate", "x=1,y=2"));
    String later = "01" + PARENT.substring(2) + "-more";
    submit("\"turn_id\":\"t2\",", "traceparent: " + later, "tracestate: " + "x".repeat(600));
    assertThat(submitted().getLast().metadata()).isEqualTo(Map.of("traceparent", later));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"
      })
  void aBrokenTraceIsDropped(String parent) throws IOException {
    submit("\"turn_id\":\"t1\",", "traceparent: " + parent, "tracestate: x=1");
    assertThat(submitted().getFirst().metadata()).isEmpty();
    submit("\"turn_id\":\"t2\",", "traceparent: " + PARENT, "traceparent: " + PARENT);
    assertThat(submitted().getLast().metadata()).isEmpty();
  }

  @Test
  void aSessionIsToldInPages() throws IOException {
    fixture.rollout.manyTurns = 5;
    String all = "/v1/sessions/sess-1?include_history=1&include_trace=1&include_turns=1";
    RawClient.Reply whole = fixture.get(all);
    assertThat(whole.json()).doesNotContainKey("next_offset");
    assertThat(fixture.get(all + "&limit=5").json()).doesNotContainKey("next_offset");
    RawClient.Reply page = fixture.get(all + "&offset=1&limit=2");
    assertThat(page.at("next_offset")).isEqualTo(3);
    assertThat((List<?>) page.at("conversation_history")).hasSize(4);
    assertThat((Map<?, ?>) page.at("turn_ledger")).hasSize(2);
    assertThat(page.body()).contains("\"many-1\":{", "\"many-2\":{");
    RawClient.Reply last = fixture.get(all + "&offset=3&limit=999999999");
    assertThat(last.json()).doesNotContainKey("next_offset");
    assertThat((Map<?, ?>) last.at("turn_ledger")).hasSize(2);
    assertThat((Map<?, ?>) fixture.get(all + "&offset=9").at("turn_ledger")).isEmpty();
    assertThat(fixture.get("/v1/sessions/sess-1?limit=2").json()).doesNotContainKey("next_offset");
    for (String bad : List.of("limit=0", "limit=x", "limit=", "offset=-1", "offset=9999999999")) {
      assertThat(fixture.get("/v1/sessions/sess-1?" + bad).status()).isEqualTo(400);
    }
  }

  @Test
  void withoutALimitAPageHasAsManyTurnsAsItMay() throws IOException {
    fixture.rollout.manyTurns = HttpConfig.DEFAULTS.pageTurnsMax() + 1;
    RawClient.Reply page = fixture.get("/v1/sessions/sess-1?include_turns=1");
    assertThat((Map<?, ?>) page.at("turn_ledger")).hasSize(HttpConfig.DEFAULTS.pageTurnsMax());
    assertThat(page.at("next_offset")).isEqualTo(HttpConfig.DEFAULTS.pageTurnsMax());
  }
}
