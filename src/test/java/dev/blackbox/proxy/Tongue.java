package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What a test agent speaks: a path, the smallest body, and the events by which streams end. */
enum Tongue {
  CHAT(
      "/v1/chat/completions",
      "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]",
      "chat",
      "",
      ""),
  ANTHROPIC(
      "/v1/messages",
      "\"max_tokens\":99,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]",
      "anthropic",
      "message_stop",
      "error"),
  RESPONSES(
      "/v1/responses", "\"input\":\"hi\"", "responses", "response.completed", "response.failed");

  private final String path;
  private final String fields;
  private final String recorded;
  private final String lastEvent;
  private final String errorEvent;

  Tongue(String path, String fields, String recorded, String lastEvent, String errorEvent) {
    this.path = path;
    this.fields = fields;
    this.recorded = recorded;
    this.lastEvent = lastEvent;
    this.errorEvent = errorEvent;
  }

  String path() {
    return path;
  }

  String body(boolean stream) {
    return "{\"model\":\"m-1\",\"stream\":" + stream + "," + fields + "}";
  }

  /** As the records have it. */
  String recorded() {
    return recorded;
  }

  /** Type of the last event of a good stream; of chat completions, none. */
  String lastEvent() {
    return lastEvent;
  }

  String errorEvent() {
    return errorEvent;
  }

  TestAgent.Answer ask(ProxyRig rig, String body, String... headers) throws IOException {
    try (TestAgent agent = rig.agent()) {
      send(agent, body, headers);
      return agent.answer();
    }
  }

  /** {@code "\\u00ff"} stands for a body that is not UTF-8. */
  void send(TestAgent agent, String body, String... headers) throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of("Authorization: Bearer " + ProxyRig.KEY, "Content-Type: application/json"));
    all.addAll(List.of(headers));
    agent.send(
        "POST",
        path,
        body.equals("\u00ff") ? new byte[] {'"', (byte) 0xff, '"'} : bytes(body),
        all.toArray(String[]::new));
  }

  /** Whether a streamed answer is a whole and good one, as this agent sees it. */
  boolean isGoodEnd(TestAgent.Answer answer) {
    return answer.status() == 200
        && answer.ended()
        && (this == CHAT
            ? answer.body().endsWith("data: [DONE]\n\n")
            : answer.body().contains("event: " + lastEvent + "\n"));
  }

  /** The events of an answer in which each has its name. */
  static List<Map<String, Object>> events(TestAgent.Answer answer) {
    List<Map<String, Object>> events = new ArrayList<>();
    for (String event : answer.body().split("\n\n")) {
      String[] lines = event.split("\n");
      assertThat(lines).hasSize(2);
      Map<String, Object> data = Json.object(lines[1].substring("data: ".length()));
      assertThat(lines[0]).isEqualTo("event: " + data.get("type"));
      events.add(data);
    }
    return events;
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
