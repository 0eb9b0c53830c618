package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Broken, oversized, and unfinished requests, byte for byte, and how connections end. */
class TransportTest {

  private static final String MESSAGES = "/v1/sessions/sess-1/messages";
  private static final String HEALTH = "GET /health HTTP/1.1\r\nHost: t\r\n";

  private DoorFixture fixture;

  @BeforeEach
  void open() throws PortTakenException {
    fixture = new DoorFixture(DoorFixture.SMALL);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private static String head(String... lines) {
    return String.join("\r\n", lines) + "\r\n\r\n";
  }

  private static void assertError(RawClient.Reply reply, int status, String code) {
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.headers()).containsEntry("content-type", "application/json");
    assertThat(reply.json()).containsOnlyKeys("request_id", "error", "message", "details");
    assertThat(reply.at("error")).isEqualTo(code);
    assertThat(String.valueOf(reply.at("request_id")))
        .matches("req-[0-9a-f]{8}")
        .isEqualTo(reply.headers().get("x-request-id"));
  }

  @Test
  void aConnectionServesManyRequestsUntilItIsToldToClose() throws IOException {
    try (RawClient client = fixture.connect()) {
      client.send(HEALTH + "\r\n" + HEALTH + "\r\n");
      assertThat(client.reply().status()).isEqualTo(200);
      assertThat(client.reply().status()).isEqualTo(200);
      client.send(HEALTH + "Connection: close\r\n\r\n");
      assertThat(client.reply().headers()).containsEntry("connection", "close");
      assertThat(client.isClosedByServer()).isTrue();
    }
  }

  @Test
  void aStreamedAnswerIsWholeBeforeTheConnectionCloses() throws IOException {
    fixture.rollout.manyTurns = 200;
    try (RawClient client = fixture.connect()) {
      client.send(
          head(
              "GET /v1/sessions/sess-1?include_history=1&include_turns=1 HTTP/1.1",
              "Host: t",
              "Connection: close"));
      RawClient.Reply reply = client.reply();
      assertThat(reply.body().length()).isGreaterThan(1_000_000);
      assertThat((List<?>) reply.at("conversation_history")).hasSize(400);
      assertThat(client.isClosedByServer()).isTrue();
    }
  }

  @Test
  void theRequestIdIsOursAndNeverTheClients() throws IOException {
    RawClient.Reply reply = fixture.exchange(HEALTH + "X-Request-Id: client-chosen\r\n\r\n");
    assertThat(reply.headers().get("x-request-id")).matches("req-[0-9a-f]{8}");
  }

  static Stream<String> brokenRequests() {
    return Stream.of(
        "GARBAGE\r\n\r\n",
        "GET\r\n\r\n",
        "GET /health\r\n\r\n",
        "GET /health HTTP/1.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: t\r\nNo colon here\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: t\r\nBad\u0001Name: x\r\n\r\n",
        "GET /health HTTP/2.0\r\nHost: t\r\n\r\n",
        "POST /health HTTP/1.1\r\nHost: t\r\nContent-Length: x\r\n\r\n",
        "POST /health HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n",
        "POST /health HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        head("POST /health HTTP/1.1", "Host: t", "Content-Length: 1", "Transfer-Encoding: chunked")
            + "a",
        "POST /health HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        "POST /health HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc\r\n",
        head("POST /health HTTP/1.1", "Host: t", "Content-Encoding: gzip", "Content-Length: 2")
            + "ab");
  }

  @ParameterizedTest
  @MethodSource("brokenRequests")
  void whatIsNoRequestIsRefusedInTheOneShapeAndEndsTheConnection(String broken) throws IOException {
    try (RawClient client = fixture.connect()) {
      RawClient.Reply reply = client.send(broken).reply();
      assertError(reply, 400, "request_error");
      assertThat(reply.headers()).containsEntry("connection", "close");
      assertThat(client.finish().isClosedByServer()).isTrue();
    }
    assertThat(fixture.rollout.calls).isEmpty();
    assertThat(fixture.get("/health").status()).isEqualTo(200);
  }

  @Test
  void anotherProtocolIsRefused() throws IOException {
    try (RawClient client = fixture.connect()) {
      assertError(client.send("GET /health HTTP/1.0\r\n\r\n").reply(), 505, "request_error");
      assertThat(client.finish().isClosedByServer()).isTrue();
    }
  }

  @Test
  void aHeadOfAMegabyteIsRefused() throws IOException {
    try (RawClient client = fixture.connect()) {
      client.send(HEALTH + "X-Big: " + "a".repeat(1 << 20) + "\r\n\r\n");
      assertError(client.reply(), 400, "request_error");
      assertThat(client.finish().isClosedByServer()).isTrue();
    }
    try (RawClient client = fixture.connect()) {
      client.send("GET /v1/sessions/" + "a".repeat(1 << 20) + " HTTP/1.1\r\nHost: t\r\n\r\n");
      assertError(client.reply(), 414, "request_error");
      assertThat(client.finish().isClosedByServer()).isTrue();
    }
    RawClient.Reply manyHeaders = fixture.exchange(HEALTH + "X: y\r\n".repeat(100_000) + "\r\n");
    assertError(manyHeaders, 400, "request_error");
  }

  @Test
  void aBodyThatIsTooLargeIsRefusedAndTheRefusalCanBeRead() throws IOException {
    byte[] body = "x".repeat((2 << 20) + 1).getBytes(StandardCharsets.UTF_8);
    try (RawClient client = fixture.connect()) {
      client.send(DoorFixture.head("POST", MESSAGES, "application/json", body.length));
      // All of it goes out before the answer is read, as most clients do it.
      client.send(body);
      RawClient.Reply reply = client.reply();
      assertError(reply, 413, "payload_too_large");
      assertThat(reply.headers()).containsEntry("connection", "close");
      assertThat(client.isClosedByServer()).isTrue();
    }
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @Test
  void chunksThatAreTooMuchTogetherAreRefusedAndNotTakenForRequests() throws IOException {
    String chunk = "40000\r\n" + "x".repeat(0x40000) + "\r\n";
    try (RawClient client = fixture.connect()) {
      client.send(
          "POST "
              + MESSAGES
              + " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
              + chunk.repeat(9)
              + "0\r\n\r\n"
              + HEALTH
              + "\r\n");
      assertError(client.reply(), 413, "payload_too_large");
      assertThat(client.finish().isClosedByServer()).isTrue();
    }
    try (RawClient client = fixture.connect()) {
      client.send(
          "POST "
              + MESSAGES
              + " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n");
      assertError(client.reply(), 413, "payload_too_large");
    }
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @Test
  void aBodyOfTheLargestSizeIsTakenWholeAndInChunks() throws IOException {
    String head = "{\"turn_id\":\"t\",\"messages\":[{\"role\":\"user\",\"content\":\"";
    String tail = "\"}]}";
    String body = head + "x".repeat((2 << 20) - head.length() - tail.length()) + tail;
    assertThat(fixture.post(MESSAGES, body).status()).isEqualTo(200);
    try (RawClient client = fixture.connect()) {
      client.send(
          "POST " + MESSAGES + " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (int at = 0; at < body.length(); at += 0x40000) {
        client.send("40000\r\n" + body.substring(at, at + 0x40000) + "\r\n");
      }
      client.send("0\r\n\r\n" + HEALTH + "\r\n");
      assertThat(client.reply().at("idempotent_replay")).isEqualTo(true);
      assertThat(client.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void aClientThatAsksFirstIsToldToContinue() throws IOException {
    String body = "{\"turn_id\":\"t\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    try (RawClient client = fixture.connect()) {
      client.send(
          DoorFixture.head("POST", MESSAGES, "", body.length())
              .replace("Host: t\r\n", "Host: t\r\nExpect: 100-continue\r\n"));
      assertThat(client.line()).isEqualTo("HTTP/1.1 100 Continue");
      assertThat(client.line()).isEmpty();
      assertThat(client.send(body).reply().status()).isEqualTo(200);
    }
  }

  @Test
  void aBodyThatNobodyWantedIsNotTakenForTheNextRequest() throws IOException {
    try (RawClient client = fixture.connect()) {
      for (String path : List.of("/health", "/v1/nope", "/v1/sessions/sess-1/messages")) {
        String body = HEALTH + "\r\n";
        client.send(DoorFixture.head("PUT", path, "text/plain", body.length()) + body);
        assertThat(client.reply().status()).isIn(404, 405);
      }
      client.send("GET /health HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nbody");
      assertThat(client.reply().status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GET /hea",
        "GET /health HTTP/1.1\r\nHost: t\r\nX-Half:",
        "POST /v1/rollout/pause HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n{}",
        "POST /v1/rollout/pause HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"
      })
  void aRequestThatDoesNotCompleteLosesItsConnection(String half)
      throws IOException, PortTakenException {
    try (DoorFixture impatient = new DoorFixture(DoorFixture.small(Duration.ofMillis(500)));
        RawClient client = impatient.connect()) {
      client.send(half);
      assertThat(client.isClosedByServer()).isTrue();
      assertThat(impatient.rollout.calls).isEmpty();
    }
  }

  @Test
  void aReaderThatStopsReadingLosesItsConnection() throws IOException {
    fixture.rollout.manyTurns = 1_000_000;
    try (RawClient client = fixture.connect()) {
      client.send("GET /v1/sessions/sess-1?include_history=1 HTTP/1.1\r\nHost: t\r\n\r\n");
      assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> fixture.rollout.brokenOff.getCount() == 0);
    }
  }

  @Test
  void aPortInUseIsSaidInOneLine() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      HttpConfig taken = DoorFixture.SMALL.at("127.0.0.1", other.getLocalPort());
      assertThatThrownBy(() -> HttpDoor.start(taken, fixture.rollout))
          .isInstanceOf(PortTakenException.class)
          .hasMessageStartingWith("cannot listen on 127.0.0.1:" + other.getLocalPort() + ": ");
    }
    assertThatThrownBy(
            () -> HttpDoor.start(DoorFixture.SMALL.at("no.such.host.invalid", 0), fixture.rollout))
        .isInstanceOf(PortTakenException.class)
        .hasMessageContaining("no.such.host.invalid");
  }

  @Test
  void aClosedDoorTakesNobody() throws IOException {
    assertThat(fixture.door.isListening()).isTrue();
    int port = fixture.door.port();
    fixture.close();
    fixture.close();
    assertThat(fixture.door.isListening()).isFalse();
    assertThatThrownBy(() -> new RawClient(port)).isInstanceOf(IOException.class);
  }
}
