package dev.blackbox.http;

import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** A real door on a real port, in front of a {@link FakeRollout}. */
final class DoorFixture implements Resource {

  /** The tests' requests say {@code Host: t}. */
  static final AccessRules KNOWN_AS_T =
      new AccessRules(Optional.empty(), Set.of("t", "elsewhere"), Set.of());

  /** Small bounds, so that reaching them is quick. */
  static final HttpConfig SMALL = small(Duration.ofSeconds(20));

  static HttpConfig small(Duration requestReadTimeout) {
    return new HttpConfig(
        "127.0.0.1",
        0,
        2L << 20,
        64L << 20,
        32 << 10,
        400,
        40,
        20,
        1,
        2_000_000,
        requestReadTimeout,
        Duration.ofSeconds(2),
        Duration.ofSeconds(30),
        Duration.ofMillis(500),
        KNOWN_AS_T);
  }

  final FakeRollout rollout = new FakeRollout();
  final HttpDoor door;

  DoorFixture() throws PortTakenException {
    this(HttpConfig.DEFAULTS.at("127.0.0.1", 0).admitting(KNOWN_AS_T));
  }

  DoorFixture(HttpConfig config) throws PortTakenException {
    door = HttpDoor.start(config, rollout);
  }

  RawClient connect() throws IOException {
    return new RawClient(door.port());
  }

  RawClient.Reply get(String path) throws IOException {
    return exchange("GET " + path + " HTTP/1.1\r\nHost: t\r\n\r\n");
  }

  RawClient.Reply post(String path, String json) throws IOException {
    return post(path, "application/json", json.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * @param contentType empty for none
   */
  RawClient.Reply post(String path, String contentType, byte[] body) throws IOException {
    try (RawClient client = connect()) {
      client.send(head("POST", path, contentType, body.length)).send(body);
      return client.reply();
    }
  }

  static String head(String method, String path, String contentType, int length) {
    return "%s %s HTTP/1.1\r\nHost: t\r\n%sContent-Length: %d\r\n\r\n"
        .formatted(
            method,
            path,
            contentType.isEmpty() ? "" : "Content-Type: " + contentType + "\r\n",
            length);
  }

  RawClient.Reply exchange(String request) throws IOException {
    try (RawClient client = connect()) {
      return client.send(request).reply();
    }
  }

  @Override
  public void close() {
    door.close();
  }
}
