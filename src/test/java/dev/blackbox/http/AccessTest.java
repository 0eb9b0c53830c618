package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may come in, with a token and without one. */
class AccessTest {

  private static final String TOKEN = "s3cret.token-1";
  private static final AccessRules WITH_TOKEN =
      new AccessRules(Optional.of(Secret.of(TOKEN)), Set.of(), Set.of());
  private static final AccessRules LISTED =
      new AccessRules(Optional.empty(), Set.of("slot-1", "10.0.0.5"), Set.of("http://ui:8080"));

  private DoorFixture fixture;

  @BeforeEach
  void open() throws PortTakenException {
    fixture = new DoorFixture();
  }

  private void open(String host, AccessRules access) throws PortTakenException {
    fixture.close();
    fixture = new DoorFixture(HttpConfig.DEFAULTS.at(host, 0).admitting(access));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private RawClient.Reply get(String path, String... headers) throws IOException {
    return fixture.exchange(
        "GET " + path + " HTTP/1.1\r\n" + String.join("\r\n", headers) + "\r\n\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer",
        "Bearer ",
        "Bearer s3cret.token-2",
        "Bearer s3cret.token-1x",
        "Bearer S3CRET.TOKEN-1",
        "Basic s3cret.token-1",
        "s3cret.token-1"
      })
  void withoutTheTokenThereIsHealthAndNothingElse(String authorization) throws Exception {
    open("127.0.0.1", WITH_TOKEN);
    String header = authorization.isEmpty() ? "X: y" : "Authorization: " + authorization;
    for (String path : List.of("/health", "/livez", "/readyz")) {
      assertThat(get(path, "Host: anywhere", header).status()).isEqualTo(200);
    }
    for (String path :
        List.of(
            "/v1/status", "/openapi.json", "/nowhere", "/v1/sessions/sess-1", "/", "/health/")) {
      RawClient.Reply reply = get(path, "Host: anywhere", header);
      assertThat(reply.status()).isEqualTo(401);
      assertThat(reply.headers().get("www-authenticate")).startsWith("Bearer");
      assertThat(reply.headers().get("x-request-id")).isEqualTo(reply.at("request_id"));
      assertThat(reply.at("error")).isEqualTo("unauthorized");
      assertThat(reply.body()).doesNotContain("s3cret");
    }
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer " + TOKEN, "bearer " + TOKEN, "BEARER   " + TOKEN + " "})
  void withTheTokenNamesDoNotMatter(String authorization) throws Exception {
    open("127.0.0.1", WITH_TOKEN);
    RawClient.Reply reply =
        get("/v1/status", "Host: anywhere", "Origin: http://x", "Authorization: " + authorization);
    assertThat(reply.status()).isEqualTo(200);
  }

  @Test
  void twoTokensAreNone() throws Exception {
    open("127.0.0.1", WITH_TOKEN);
    String right = "Authorization: Bearer " + TOKEN;
    assertThat(get("/v1/status", "Host: t", right, right).status()).isEqualTo(401);
  }

  @Test
  void aStrangersBodyIsNotRead() throws Exception {
    open("127.0.0.1", WITH_TOKEN);
    try (RawClient client = fixture.connect()) {
      client.send(DoorFixture.head("POST", "/v1/rollout/register", "", 30 << 20));
      RawClient.Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(401);
      assertThat(reply.headers()).containsEntry("connection", "close");
      assertThat(client.finish().isClosedByServer()).isTrue();
    }
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @Test
  void theTokenIsNotLogged() throws Exception {
    try (LogCapture door = new LogCapture(HttpDoor.class);
        LogCapture requests = new LogCapture(Dispatcher.class)) {
      door.everything();
      requests.everything();
      open("127.0.0.1", WITH_TOKEN);
      get("/v1/status", "Host: t", "Authorization: Bearer " + TOKEN);
      get("/v1/status", "Host: t", "Authorization: Bearer " + TOKEN + "x");
      fixture.close();
      assertThat(String.join("", door.lines())).contains("for those who have the API token");
      assertThat(String.join("\n", door.lines()) + String.join("\n", requests.lines()))
          .doesNotContain(TOKEN);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, 200",
    "LOCALHOST:1, 200",
    "localhost., 200",
    "127.0.0.1, 200",
    "127.0.0.1:99, 200",
    "127.9.9.9, 200",
    "[::1], 200",
    "[::1]:80, 200",
    "slot-1:80, 200",
    "Slot-1, 200",
    "10.0.0.5:1, 200",
    "10.0.0.6, 421",
    "evil.example, 421",
    "localhost.evil.example, 421",
    "127.0.0.1.evil.example:23456, 421",
    "127.evil.example, 421",
    "0.0.0.0, 421",
    "[::2], 421",
    "[::1, 400",
    "localhost@evil.example, 400",
    "*, 421"
  })
  void withoutATokenTheHostMustBeOurs(String host, int status) throws Exception {
    open("127.0.0.1", LISTED);
    RawClient.Reply reply = get("/v1/status", "Host: " + host);
    assertThat(reply.status()).isEqualTo(status);
    if (status == 421) {
      assertThat(reply.at("error")).isEqualTo("misdirected_request");
      assertThat(fixture.rollout.calls).isEmpty();
      assertThat(get("/health", "Host: " + host).status()).isEqualTo(421);
    }
  }

  @Test
  void theHostOfAnAbsoluteTargetCounts() throws Exception {
    open("127.0.0.1", LISTED);
    assertThat(get("http://evil.example/v1/status", "Host: localhost").status()).isEqualTo(421);
    assertThat(get("http://localhost:1/v1/status", "Host: evil.example").status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost:7777, 200",
    "HTTP://LOCALHOST:7777, 200",
    "http://ui:8080, 200",
    "http://localhost, 403",
    "http://localhost:7778, 403",
    "https://localhost:7777, 403",
    "http://evil.example, 403",
    "null, 403",
    "'', 403"
  })
  void withoutATokenAPageMustBeOurs(String origin, int status) throws Exception {
    open("127.0.0.1", LISTED);
    RawClient.Reply reply = get("/v1/status", "Host: localhost:7777", "Origin: " + origin);
    assertThat(reply.status()).isEqualTo(status);
    if (status == 403) {
      assertThat(reply.at("error")).isEqualTo("forbidden");
      assertThat(fixture.rollout.calls).isEmpty();
    }
  }

  @Test
  void anythingCanBeAllowed() throws Exception {
    open("127.0.0.1", new AccessRules(Optional.empty(), Set.of("*"), Set.of("*")));
    assertThat(get("/v1/status", "Host: evil.example", "Origin: http://x").status()).isEqualTo(200);
  }

  @Test
  void onEveryAddressTheOneThatWasUsedIsOurs() throws Exception {
    try (LogCapture log = new LogCapture(HttpDoor.class)) {
      log.everything();
      open("0.0.0.0", AccessRules.LOCAL);
      assertThat(log.lines())
          .last()
          .asString()
          .startsWith("WARNING")
          .contains("without an API token");
    }
    assertThat(get("/v1/status", "Host: 127.0.0.1").status()).isEqualTo(200);
    assertThat(get("/v1/status", "Host: 192.0.2.7").status()).isEqualTo(421); // RFC 5737
  }

  @Test
  void withoutATokenItSaysSoInOneLine() throws Exception {
    try (LogCapture log = new LogCapture(HttpDoor.class)) {
      log.everything();
      open("127.0.0.1", AccessRules.LOCAL);
      assertThat(log.lines())
          .last()
          .isEqualTo(
              "INFO listening on http://127.0.0.1:"
                  + fixture.door.port()
                  + ", without an API token, so for this machine only");
    }
  }
}
