package dev.blackbox.app.soak;

import dev.blackbox.app.ServerClient;
import java.util.List;
import java.util.Map;

/** A turn that a client asks for. Its id is used once in the whole soak. */
record Turn(String session, String id, String prompt) {

  String submitPath() {
    return "/v1/sessions/" + session + "/messages";
  }

  String path() {
    return "/v1/sessions/" + session + "/turns/" + id;
  }

  Map<String, Object> request(boolean async) {
    return request(async, prompt);
  }

  /** The same id with another prompt, which must be refused. */
  Map<String, Object> otherRequest() {
    return request(false, prompt + " differently");
  }

  private Map<String, Object> request(boolean async, String text) {
    return Map.of(
        "turn_id",
        id,
        "mode",
        async ? "async" : "sync",
        "messages",
        List.of(Map.of("role", "user", "content", text)));
  }

  /**
   * What every answer about it must repeat byte for byte: all but the request's own name and the
   * replay flag.
   */
  static String lasting(ServerClient.Answer answer) {
    return answer.status()
        + " "
        + answer
            .text()
            .replaceFirst("\"request_id\":\"[^\"]*\",?", "")
            .replaceFirst("\"idempotent_replay\":(true|false),?", "");
  }

  @Override
  public String toString() {
    return id + " of " + session;
  }
}
