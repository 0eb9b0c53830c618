package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which path and method is whose, and what everybody else is told. */
class RoutesTest {

  private static final Map<String, String> METHODS =
      Map.ofEntries(
          Map.entry("/health", "GET"),
          Map.entry("/livez", "GET"),
          Map.entry("/readyz", "GET"),
          Map.entry("/v1/status", "GET"),
          Map.entry("/v1/rollout/register", "POST"),
          Map.entry("/v1/rollout/pause", "POST"),
          Map.entry("/v1/rollout/resume", "POST"),
          Map.entry("/v1/rollout/pause_state", "GET"),
          Map.entry("/v1/sessions/sess-1", "GET"),
          Map.entry("/v1/sessions/sess-1/messages", "POST"),
          Map.entry("/v1/sessions/sess-1/turns/t1", "GET"),
          Map.entry("/v1/sessions/sess-1/turns/t1/cancel", "POST"),
          Map.entry("/v1/sessions/sess-1/execute_cmd", "POST"),
          Map.entry("/v1/sessions/sess-1/abort", "POST"));

  private static DoorFixture fixture;

  @BeforeAll
  static void open() throws PortTakenException {
    fixture = new DoorFixture();
  }

  @AfterAll
  static void close() {
    fixture.close();
  }

  static List<String[]> wrongMethods() {
    List<String[]> cases = new ArrayList<>();
    METHODS.forEach(
        (path, right) -> {
          for (String method :
              List.of("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD")) {
            if (!method.equals(right)) {
              cases.add(new String[] {method, path, right});
            }
          }
        });
    return cases;
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("wrongMethods")
  void anotherMethodIsRefusedAndTheRightOneNamed(String method, String path, String right)
      throws IOException {
    fixture.rollout.calls.clear();
    try (RawClient client = fixture.connect()) {
      client.send(method + " " + path + " HTTP/1.1\r\nHost: t\r\n\r\n");
      RawClient.Reply reply = client.reply(!method.equals("HEAD"));
      assertThat(reply.status()).isEqualTo(405);
      assertThat(reply.headers())
          .containsEntry("allow", right)
          .containsEntry("content-type", "application/json");
      assertThat(reply.headers().get("x-request-id")).matches("req-[0-9a-f]{8}");
      if (!method.equals("HEAD")) {
        assertThat(reply.json()).containsOnlyKeys("request_id", "error", "message", "details");
        assertThat(reply.at("error")).isEqualTo("method_not_allowed");
      }
      // The connection is still in step: HEAD's answer had no body.
      client.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n");
      assertThat(client.reply().body()).contains("1.1.0");
    }
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/v1",
        "/v1/nope",
        "/v1/",
        "/HEALTH",
        "/health/",
        "//health",
        "/./health",
        "/x/../health",
        "/health;x=1",
        "/v1/sessions",
        "/v1/sessions/",
        "/v1/sessions//turns/t1",
        "/v1/sessions/sess-1/",
        "/v1/sessions/sess-1/turns/",
        "/v1/sessions/sess-1/turns//cancel",
        "/v1/sessions/sess-1%2Fturns%2Ft1",
        "/v1/sessions/a%2fb",
        "/v1/sessions/sess-1/turns/t1%2Fcancel",
        "/v1/sessions/../status",
        "/v1/sessions/..%2fstatus",
        "/%2e%2e/health",
        "/v1/sessions/sess-1/execute_cmd/x",
        "*",
        "health"
      })
  void whatIsNoRouteIsNotFound(String path) throws IOException {
    fixture.rollout.calls.clear();
    RawClient.Reply reply = fixture.get(path);
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.json()).containsOnlyKeys("request_id", "error", "message", "details");
    assertThat(reply.at("error")).isEqualTo("not_found");
    assertThat(reply.headers()).containsEntry("content-type", "application/json");
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/sessions/sess%2D1, 200",
    "/v1/sessions/%73ess-1, 200",
    "http://elsewhere/v1/sessions/sess-1, 200",
    "/v1/sessions/sess-1?include_history=no&foo=1, 200",
    "/v1/sessions/.., 400",
    "/v1/sessions/%2e%2e, 400",
    "/v1/sessions/a%00b, 400",
    "/v1/sessions/a%zz, 400",
    "/v1/sessions/a%, 400",
    "/v1/sessions/%ED%A0%80, 400",
    "/v1/sessions/s%C3%A9, 400",
    "/v1/sessions/sess%252D1, 400",
    "/v1/sessions/-bad, 400",
    "/v1/sessions/sess-2, 404"
  })
  void anIdentifierIsDecodedOnceAndThenChecked(String path, int status) throws IOException {
    RawClient.Reply reply = fixture.get(path);
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.at("request_id")).isEqualTo(reply.headers().get("x-request-id"));
  }

  @Test
  void anIdentifierCutWithinACharacterCanStillBeRepeated() throws IOException {
    RawClient.Reply reply = fixture.get("/v1/sessions/" + "a".repeat(255) + "%F0%9F%98%80tail");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.at("error")).isEqualTo("request_error");
  }

  @ParameterizedTest
  @CsvSource({
    "wait=abc, float_parsing",
    "wait=, float_parsing",
    "wait, float_parsing",
    "wait=0x10, float_parsing",
    "wait=1d, float_parsing",
    "wait=%ff, float_parsing",
    "wait=%zz, float_parsing",
    "wait=-1, greater_than_equal",
    "wait=-inf, greater_than_equal",
    "wait=nan, greater_than_equal",
    "wait=0&wait=abc, float_parsing"
  })
  void aWaitThatIsNoNumberOfSecondsIsRefused(String query, String fault) throws IOException {
    fixture.rollout.calls.clear();
    RawClient.Reply reply = fixture.get("/v1/sessions/sess-1/turns/t1?" + query);
    // Some malformed escapes are refused before they are a query at all.
    assertThat(reply.status()).isEqualTo(400);
    if (!query.equals("wait=%zz")) {
      assertThat(reply.faults()).containsExactly(fault + " query.wait");
    }
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wait=0",
        "wait=inf",
        "wait=1e3",
        "wait=+1",
        "wait=abc&wait=0",
        "foo=1",
        "",
        "wait=1_0"
      })
  void otherSpellingsOfWaitAreTaken(String query) throws IOException {
    fixture.post(
        "/v1/sessions/sess-1/messages",
        "{\"turn_id\":\"w\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    assertThat(fixture.get("/v1/sessions/sess-1/turns/w?" + query).status()).isEqualTo(200);
  }

  @Test
  void aFlagTakesTheSpellingsOfTheReferenceAndNoOther() throws IOException {
    for (String yes : List.of("1", "true", "TRUE", "t", "yes", "Y", "on")) {
      assertThat(flag(yes).at("conversation_history")).isInstanceOf(List.class);
    }
    for (String no : List.of("0", "false", "F", "no", "n", "off")) {
      assertThat(flag(no).at("conversation_history")).isNull();
    }
    for (String neither : List.of("maybe", "", "2", "%C3%A9", "true%20")) {
      assertThat(flag(neither).faults()).containsExactly("bool_parsing query.include_history");
    }
  }

  private static RawClient.Reply flag(String value) throws IOException {
    return fixture.get("/v1/sessions/sess-1?include_history=" + value);
  }
}
