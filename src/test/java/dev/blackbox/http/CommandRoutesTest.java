package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.TurnError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands over HTTP: named, asynchronous, polled, listed and cancelled, as turns are. */
class CommandRoutesTest {

  private static final String EXECUTE = "/v1/sessions/sess-1/execute_cmd";
  private static final String COMMANDS = "/v1/sessions/sess-1/commands";
  private static final String COMMAND = COMMANDS + "/c1";

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
   * @param fields of the body after its command, for example {@code ,"mode":"async"}
   */
  private RawClient.Reply execute(String fields, String... headers) throws IOException {
    byte[] body = ("{\"cmd\":\"true\"" + fields + "}").getBytes(StandardCharsets.UTF_8);
    try (RawClient client = fixture.connect()) {
      client.send(
          DoorFixture.head("POST", EXECUTE, "application/json", body.length)
              .replace("Host: t\r\n", "Host: t\r\n" + lines(headers)));
      return client.send(body).reply();
    }
  }

  private RawClient.Reply get(String path, String... headers) throws IOException {
    return get(path, true, headers);
  }

  private RawClient.Reply get(String path, boolean withBody, String... headers) throws IOException {
    try (RawClient client = fixture.connect()) {
      client.send("GET " + path + " HTTP/1.1\r\nHost: t\r\n" + lines(headers) + "\r\n");
      return client.reply(withBody);
    }
  }

  private static String lines(String... headers) {
    return headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
  }

  @Test
  void anAsynchronousCommandIsAcceptedSaysWhereItIsAndIsPolledToItsEnd() throws IOException {
    fixture.rollout.answersAtOnce = false;
    RawClient.Reply accepted = execute(",\"command_id\":\"c1\",\"mode\":\"async\"");
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.headers())
        .containsEntry("location", COMMAND)
        .containsEntry("retry-after", "1")
        .containsEntry("cache-control", "no-store");
    assertThat(accepted.json())
        .containsEntry("command_id", "c1")
        .containsEntry("status", "queued")
        .containsEntry("idempotent_replay", false);
    assertThat(fixture.rollout.calls).doesNotContain("awaitCommand");
    RawClient.Reply queued = get(COMMAND);
    assertThat(queued.at("status")).isEqualTo("queued");
    assertThat(queued.at("result")).isNull();
    fixture.rollout.endCommand("c1", CommandState.ENDED, Optional.empty());
    RawClient.Reply ended = get(COMMAND + "?wait=30");
    assertThat(ended.at("status")).isEqualTo("ended");
    assertThat(ended.at("result")).isInstanceOf(Map.class);
  }

  @Test
  void aPollWaitsAsLongAsItIsTold() throws IOException {
    fixture.rollout.answersAtOnce = false;
    execute(",\"command_id\":\"c1\",\"mode\":\"async\"");
    assertThat(get(COMMAND + "?wait=2.5").status()).isEqualTo(200);
    assertThat(fixture.rollout.requests).contains(Optional.of(Duration.ofMillis(2500)));
    assertThat(get(COMMAND, "Prefer: wait=7").headers())
        .containsEntry("preference-applied", "wait=7");
    assertThat(fixture.rollout.requests).contains(Optional.of(Duration.ofSeconds(7)));
    assertThat(get(COMMAND + "?wait=x").status()).isEqualTo(400);
  }

  @Test
  void aPollOfWhatIsKnownGetsNothing() throws IOException {
    fixture.rollout.answersAtOnce = false;
    execute(",\"command_id\":\"c1\",\"mode\":\"async\"");
    String queued = String.valueOf(get(COMMAND).headers().get("etag"));
    assertThat(queued).matches("W/\"[0-9a-f]+\"");
    RawClient.Reply unchanged = get(COMMAND, false, "If-None-Match: " + queued);
    assertThat(unchanged.status()).isEqualTo(304);
    assertThat(unchanged.headers()).containsEntry("etag", queued);
    fixture.rollout.endCommand("c1", CommandState.ENDED, Optional.empty());
    RawClient.Reply changed = get(COMMAND, "If-None-Match: " + queued);
    assertThat(changed.status()).isEqualTo(200);
    assertThat(changed.headers().get("etag")).isNotEqualTo(queued);
  }

  @Test
  void aNamedCommandIsReplayedAndMarkedAndAKeyIsAName() throws IOException {
    RawClient.Reply first = execute("", "Idempotency-Key: \"c1\"");
    assertThat(first.status()).isEqualTo(200);
    assertThat(first.at("command_id")).isEqualTo("c1");
    assertThat(first.headers()).doesNotContainKey("idempotent-replayed");
    RawClient.Reply again = execute(",\"command_id\":\"c1\"");
    assertThat(again.at("idempotent_replay")).isEqualTo(true);
    assertThat(again.headers()).containsEntry("idempotent-replayed", "true");
    assertThat(execute(",\"command_id\":\"c1\"", "Idempotency-Key: c1").status()).isEqualTo(200);
    RawClient.Reply differing = execute(",\"command_id\":\"c1\"", "Idempotency-Key: c2");
    assertThat(differing.faults())
        .containsExactly("idempotency_key_mismatch header.idempotency-key");
    assertThat(fixture.rollout.changes).containsExactly("execute");
  }

  @Test
  void aCommandWithoutANameIsAnsweredAsTheReferenceDoes() throws IOException {
    assertThat(execute("").json()).doesNotContainKeys("command_id", "idempotent_replay");
  }

  @Test
  void preferencesAreFollowedUnlessAModeIsSpelledOut() throws IOException {
    fixture.rollout.answersAtOnce = false;
    RawClient.Reply async = execute(",\"command_id\":\"c1\"", "Prefer: respond-async");
    assertThat(async.status()).isEqualTo(202);
    assertThat(async.headers()).containsEntry("preference-applied", "respond-async");
    RawClient.Reply waited = execute(",\"command_id\":\"c2\"", "Prefer: wait=1");
    assertThat(waited.status()).as("not settled in time").isEqualTo(202);
    assertThat(fixture.rollout.requests).contains(Optional.of(Duration.ofSeconds(1)));
    fixture.rollout.answersAtOnce = true;
    RawClient.Reply sync =
        execute(",\"command_id\":\"c3\",\"mode\":\"sync\"", "Prefer: respond-async");
    assertThat(sync.status()).isEqualTo(200);
    assertThat(sync.headers()).doesNotContainKey("preference-applied");
  }

  @Test
  void anErrorIsAnsweredEachTimeWithItsOwnStatus() throws IOException {
    fixture.rollout.answersAtOnce = false;
    execute(",\"command_id\":\"c1\",\"mode\":\"async\"");
    TurnError cancelled = new TurnError(ErrorCode.CANCELLED, "Command was cancelled.", Map.of());
    fixture.rollout.endCommand("c1", CommandState.CANCELLED, Optional.of(cancelled));
    assertThat(execute(",\"command_id\":\"c1\"").status()).isEqualTo(499);
    assertThat(execute(",\"command_id\":\"c1\"").headers())
        .containsEntry("idempotent-replayed", "true");
    RawClient.Reply poll = get(COMMAND);
    assertThat(poll.status()).isEqualTo(200);
    assertThat((Map<?, ?>) poll.at("error")).extracting("error").isEqualTo("cancelled");
  }

  @Test
  void aCancelTellsTheCommandAndChangesNothingOfWhatIsNotThere() throws IOException {
    fixture.rollout.answersAtOnce = false;
    execute(",\"command_id\":\"c1\",\"mode\":\"async\"");
    RawClient.Reply reply = fixture.post(COMMAND + "/cancel", "");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.at("command_id")).isEqualTo("c1");
    assertThat(fixture.post(COMMANDS + "/none/cancel", "").status()).isEqualTo(404);
    assertThat(fixture.rollout.changes).containsExactly("execute", "cancelCommand");
  }

  @Test
  void commandsAreListedInPages() throws IOException {
    for (int each = 1; each <= 3; each++) {
      execute(",\"command_id\":\"c" + each + "\"");
    }
    RawClient.Reply first = get(COMMANDS + "?limit=2");
    assertThat(ids(first)).containsExactly("c1", "c2");
    assertThat(first.at("next_after")).isEqualTo(2);
    RawClient.Reply second = get(COMMANDS + "?limit=2&after=" + first.at("next_after"));
    assertThat(ids(second)).containsExactly("c3");
    assertThat(second.at("next_after")).isNull();
    assertThat(get(COMMANDS + "?limit=0").status()).isEqualTo(400);
    assertThat(get(COMMANDS + "?after=-1").status()).isEqualTo(400);
  }

  private static List<Object> ids(RawClient.Reply reply) {
    return ((List<?>) java.util.Objects.requireNonNull(reply.at("commands")))
        .stream().<Object>map(each -> ((Map<?, ?>) each).get("command_id")).toList();
  }
}
