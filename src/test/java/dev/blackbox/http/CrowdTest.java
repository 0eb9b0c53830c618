package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.turn.SessionState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Many clients at once, slow ones and ones that leave: the others are served all the same. */
class CrowdTest {

  private static final String MESSAGES = "/v1/sessions/sess-1/messages";
  private static final String POLL =
      "GET /v1/sessions/sess-1/turns/t1?wait=%s HTTP/1.1\r\nHost: t\r\n\r\n";
  private static final String SYNC =
      "{\"turn_id\":\"t1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  private DoorFixture fixture;
  private final List<RawClient> clients = new ArrayList<>();

  @BeforeEach
  void open() throws PortTakenException {
    fixture = new DoorFixture(DoorFixture.SMALL);
    fixture.rollout.answersAtOnce = false;
  }

  @AfterEach
  void close() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    fixture.close();
  }

  private RawClient connect() throws IOException {
    RawClient client = fixture.connect();
    clients.add(client);
    return client;
  }

  private void submitAsync() throws IOException {
    fixture.post(MESSAGES, SYNC.replace("{\"turn", "{\"mode\":\"async\",\"turn"));
  }

  private void awaitWaiters(long count) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> fixture.rollout.calls.stream().filter("await"::equals).count() >= count);
  }

  private static TurnOutcome failed() {
    return new TurnOutcome.Failed(
        new TurnError(ErrorCode.BACKEND_ERROR, "down", Map.of()), Work.NONE);
  }

  @Test
  void aHundredSlowClientsStopNobody() throws IOException, PortTakenException {
    fixture.close();
    fixture = new DoorFixture(DoorFixture.small(Duration.ofSeconds(3)));
    for (int each = 0; each < 100; each++) {
      connect()
          .send(
              each % 2 == 0
                  ? "GET /health HTTP/1.1\r\nHost:"
                  : "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n{");
    }
    for (int each = 0; each < 50; each++) {
      assertThat(fixture.get("/v1/status").status()).isEqualTo(200);
    }
    // Every one of them is cut off.
    for (RawClient slow : clients) {
      assertThat(slow.isClosedByServer()).isTrue();
    }
  }

  @Test
  void moreWaitingRequestsThanMayWaitAreRefusedAtOnceAndHealthIsNot() throws IOException {
    for (int each = 0; each < DoorFixture.SMALL.requestsMax(); each++) {
      byte[] body = SYNC.getBytes(StandardCharsets.UTF_8);
      connect().send(DoorFixture.head("POST", MESSAGES, "", body.length)).send(body);
    }
    awaitWaiters(DoorFixture.SMALL.requestsMax());
    RawClient.Reply refused = fixture.get("/v1/status");
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.headers()).containsEntry("retry-after", "1");
    assertThat(refused.at("error")).isEqualTo("service_unavailable");
    for (String path : List.of("/health", "/livez", "/readyz")) {
      assertThat(fixture.get(path).status()).isEqualTo(200);
    }
    fixture.rollout.settle("t1", failed(), SessionState.ACTIVE);
    for (RawClient waiting : clients) {
      assertThat(waiting.reply().status()).isEqualTo(502);
    }
    assertThat(fixture.get("/v1/status").status()).isEqualTo(200);
  }

  @Test
  void pollsLeaveRoomForOthersAndAllWakeWhenTheTurnSettles() throws IOException {
    submitAsync();
    for (int each = 0; each < DoorFixture.SMALL.longPollsMax(); each++) {
      connect().send(POLL.formatted("30"));
    }
    awaitWaiters(DoorFixture.SMALL.longPollsMax());
    RawClient.Reply refused = fixture.exchange(POLL.formatted("30"));
    assertThat(refused.status()).isEqualTo(503);
    assertThat(fixture.exchange(POLL.formatted("0")).at("status")).isEqualTo("queued");
    fixture.rollout.settle("t1", failed(), SessionState.ACTIVE);
    for (RawClient polling : clients) {
      assertThat(polling.reply().at("status")).isEqualTo("failed");
    }
  }

  @Test
  void moreBodiesThanMayBeHeldAreRefusedAtOnceUntilThereIsRoomAgain() throws IOException {
    int body = Math.toIntExact(DoorFixture.SMALL.bodyBytesMax());
    byte[] almost = new byte[body - 1];
    long held = DoorFixture.SMALL.bodiesBytesMax() / almost.length + 1;
    byte[] another = new byte[body];
    for (int each = 0; each < held; each++) {
      connect().send(DoorFixture.head("POST", MESSAGES, "", body)).send(almost);
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () -> {
              if (fixture.post(MESSAGES, "", another).status() == 503) {
                return true;
              }
              // The room that this one had may have been missing for one that wanted to stay.
              connect().send(DoorFixture.head("POST", MESSAGES, "", body)).send(almost);
              return false;
            });
    assertThat(fixture.get("/v1/status").status()).isEqualTo(200);
    for (RawClient leaving : clients) {
      leaving.close();
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> fixture.post(MESSAGES, "", another).status() == 400);
  }

  @Test
  void clientsThatLeaveGiveTheirPlacesBack() throws IOException {
    submitAsync();
    for (int round = 1; round <= 3; round++) {
      for (int each = 0; each < DoorFixture.SMALL.longPollsMax(); each++) {
        connect().send(POLL.formatted("1"));
      }
      awaitWaiters((long) round * DoorFixture.SMALL.longPollsMax());
      for (RawClient leaving : clients) {
        leaving.close();
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> fixture.exchange(POLL.formatted("0.001")).status() == 200);
      clients.clear();
    }
  }

  @Test
  void aReaderThatLeavesWithinALongAnswerDisturbsNobody() throws IOException {
    fixture.rollout.manyTurns = 20_000;
    for (int each = 0; each < 10; each++) {
      RawClient client = connect();
      client.send("GET /v1/sessions/sess-1?include_turns=1 HTTP/1.1\r\nHost: t\r\n\r\n");
      assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
      client.close();
    }
    fixture.rollout.manyTurns = 0;
    assertThat(fixture.get("/v1/sessions/sess-1?include_turns=1").status()).isEqualTo(200);
  }

  @Test
  void closingTheDoorAnswersNobodyTwiceAndEndsInTime() throws IOException {
    submitAsync();
    RawClient waiting = connect().send(POLL.formatted("30"));
    awaitWaiters(1);
    long start = System.nanoTime();
    fixture.close();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    RawClient.Reply last = waiting.reply();
    assertThat(last.status()).isIn(200, 503);
    assertThat(waiting.isClosedByServer()).isTrue();
  }
}
