package dev.blackbox.app.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.SseDecoder;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScriptedEngineTest {

  private static final String SCRIPT =
      """
      {
        "conversations": [
          {"user_contains": "write a file", "steps": [
            {"reasoning": "a file then", "text": "I will.", "tool_calls": [
              {"name": "bash", "arguments": {"command": "echo hi > a"}},
              {"name": "read", "arguments": "{broken"}]},
            "Done."]},
          {"user_contains": "flaky", "steps": [
            {"text": "ok", "fault_times": 2,
             "fault": {"kind": "status", "status": 429, "body": {"error": {"message": "slow"}},
                       "retry_after": 1}}]},
          {"user_contains": "cut", "steps": [{"text": "a b c d e f g h", "chunk_characters": 1,
            "fault": {"kind": "error_frame", "events": 3, "body": {"message": "boom"}}}]}
        ],
        "otherwise": ["Hello."]
      }
      """;

  private ScriptedEngine engine;
  private HttpClient client;

  @BeforeEach
  void start() {
    engine = ScriptedEngine.start(0, EngineScript.parse(SCRIPT));
    client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  @AfterEach
  void stop() {
    client.close();
    engine.close();
  }

  @Test
  void theLastUserMessageAndWhatFollowsChooseTheStep() throws Exception {
    String user = "{\"role\":\"user\",\"content\":\"please write a file\"}";
    String called = "{\"role\":\"assistant\",\"content\":null}";
    String result = "{\"role\":\"tool\",\"content\":\"ok\"}";
    for (int replay = 0; replay < 2; replay++) {
      HttpResponse<String> first = post(plain(user));
      assertThat(first.body()).contains("I will.", "\"reasoning_content\":\"a file then\"");
      assertThat(first.body()).contains("\"arguments\":\"{broken\"", "\"finish_reason\":\"tool");
      assertThat(post(plain(user, called, result, result)).body()).contains("Done.");
      assertThat(post(plain(user, called, result, called, result)).body()).contains("Done.");
    }
    String next = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"bye\"}]}";
    assertThat(post(plain(user, called, result, next)).body()).contains("Hello.");
  }

  @Test
  void streamSaysTheSameAsThePlainAnswer() throws Exception {
    String user = "{\"role\":\"user\",\"content\":\"write a file\"}";
    ChatProgress plain = new ChatProgress();
    plain.answer(post(plain(user)).body().getBytes(StandardCharsets.UTF_8));
    ChatProgress streamed = new ChatProgress();
    for (String data : events(post(streamOf(user, true)).body())) {
      streamed.chunk(ByteSlice.of(data.getBytes(StandardCharsets.UTF_8)));
    }
    assertThat(streamed.usage()).isEqualTo(plain.usage());
    assertThat(streamed.usage().reasoningTokens()).hasValue(3);
    assertThat(streamed.toolCalls()).isEqualTo(2).isEqualTo(plain.toolCalls());
    assertThat(streamed.finishReason()).isEqualTo(plain.finishReason()).hasValue("tool_calls");
    assertThat(streamed.done()).isTrue();
    assertThat(engine.usageReported().completionTokens())
        .isEqualTo(2 * streamed.usage().completionTokens().orElseThrow());
    assertThat(post(streamOf(user, false)).body()).doesNotContain("usage");
  }

  @Test
  void faultGoesAwayAfterItsTimes() throws Exception {
    String user = "{\"role\":\"user\",\"content\":\"flaky\"}";
    for (int attempt = 0; attempt < 2; attempt++) {
      HttpResponse<String> refused = post(plain(user));
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.headers().firstValue("retry-after")).isEqualTo(Optional.of("1"));
      assertThat(refused.body()).isEqualTo("{\"error\":{\"message\":\"slow\"}}");
    }
    assertThat(post(plain(user)).statusCode()).isEqualTo(200);
  }

  @Test
  void errorFrameComesAfterItsEvents() throws Exception {
    List<String> events =
        events(post(streamOf("{\"role\":\"user\",\"content\":\"cut\"}", true)).body());
    assertThat(events).hasSize(5);
    assertThat(events.get(3)).isEqualTo("{\"error\": {\"message\":\"boom\"}}");
    assertThat(events.get(4)).isEqualTo("[DONE]");
  }

  @Test
  void requestsAreRemembered() throws Exception {
    post(plain("{\"role\":\"user\",\"content\":\"x\"}"));
    EngineRequest got = engine.chatRequests().getFirst();
    assertThat(got.header("x-test")).hasValue("yes");
    assertThat(got.bodyText()).contains("\"content\":\"x\"");
    assertThat(got.path()).isEqualTo("/v1/chat/completions");
  }

  @Test
  void modelsAndPausing() throws Exception {
    assertThat(send("GET", "/v1/models", "").body()).contains("\"scripted\"");
    Map<String, ?> paused =
        Json.object(send("POST", "/v1/rollout/pause", "{\"reason\":\"w\"}").body());
    assertThat(paused.get("status")).isEqualTo("paused");
    assertThat(paused.get("reason")).isEqualTo("w");
    assertThat(Json.object(send("POST", "/v1/rollout/pause", "{}").body()).get("status"))
        .isEqualTo("already_paused");
    assertThat(Json.object(send("POST", "/v1/rollout/resume", "{\"version\":3}").body()))
        .containsEntry("status", "resumed")
        .containsEntry("version", "3");
    assertThat(send("GET", "/nothing", "").statusCode()).isEqualTo(404);
    assertThat(send("POST", "/v1/chat/completions", "{").statusCode()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense",
        "{\"conversation\":[]}",
        "{\"otherwise\":[]}",
        "{\"otherwise\":[{\"txt\":\"a\"}]}",
        "{\"otherwise\":[{\"fault\":{\"kind\":\"odd\"}}]}",
        "{\"otherwise\":[{\"delay_ms\":-1}]}",
        "{\"conversations\":[{\"steps\":[\"a\"]}]}"
      })
  void scriptsThatAreWrongAreRefused(String script) {
    assertThatThrownBy(() -> EngineScript.parse(script))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("script");
  }

  private HttpResponse<String> post(String body) throws Exception {
    return send("POST", "/v1/chat/completions", body);
  }

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(engine.origin() + path))
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .header("x-test", "yes")
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static String plain(String... messages) {
    return "{\"messages\":[" + String.join(",", messages) + "]}";
  }

  private static String streamOf(String message, boolean usage) {
    return "{\"stream\":true,\"stream_options\":{\"include_usage\":"
        + usage
        + "},\"messages\":["
        + message
        + "]}";
  }

  private static List<String> events(String body) throws Exception {
    SseDecoder decoder = new SseDecoder(1 << 20);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    decoder.append(bytes, 0, bytes.length);
    List<String> events = new ArrayList<>();
    for (SseDecoder.Event e = decoder.next(); e != null; e = decoder.next()) {
      events.add(String.valueOf(e.data()));
    }
    return events;
  }
}
