package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerClient;
import dev.blackbox.app.ServerProcess;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every endpoint and every kind of bad input ({@link BadRequests}): refused in the one shape, never
 * with a failure of ours, and nothing changes. A failure names its seed; {@code
 * -Dbad.requests.seed=N} begins with it, and {@link #KEPT} keeps what it stands for.
 */
class BadRequestsTest {

  /**
   * What was found once: the request itself, because a seed means another one as soon as the
   * generator changes.
   */
  private static final List<String> KEPT =
      List.of("GET /health HTTP/1.1\r\nHost: localhost\r\n: y\r\n\r\n");

  private static final int SAMPLES = 1_500;
  private static final int FAILURES_SHOWN = 10;
  private static final Duration ENOUGH = Duration.ofSeconds(8);

  private interface Check {
    void of(BadRequests.Sample sample) throws Exception;
  }

  /** A new first seed each time, so that runs add up; the failures name the ones that matter. */
  private static void eachSample(Check check) throws Exception {
    long first = Long.getLong("bad.requests.seed", System.nanoTime());
    List<String> failures = new ArrayList<>();
    for (String kept : KEPT) {
      byte[] bytes = kept.getBytes(StandardCharsets.UTF_8);
      check.of(new BadRequests.Sample(kept, bytes, BadRequests.Expected.REFUSED));
    }
    for (BadRequests.Sample sample : BadRequests.all(first)) {
      failureOf("all of seed " + first, sample, check).ifPresent(failures::add);
    }
    long end = System.nanoTime() + ENOUGH.toNanos();
    for (long each = 0; each < SAMPLES && System.nanoTime() < end; each++) {
      failureOf("seed " + (first + each), BadRequests.of(first + each), check)
          .ifPresent(failures::add);
      if (failures.size() > FAILURES_SHOWN) {
        break;
      }
    }
    assertThat(failures).isEmpty();
  }

  private static Optional<String> failureOf(String seed, BadRequests.Sample sample, Check check)
      throws Exception {
    try {
      check.of(sample);
      return Optional.empty();
    } catch (AssertionError | IOException failure) {
      return Optional.of(seed + "L, " + sample.what() + ": " + failure.getMessage());
    }
  }

  private static void send(int port, BadRequests.Sample sample) throws IOException {
    try (RawClient client = new RawClient(port)) {
      try {
        client.send(sample.bytes());
      } catch (SocketException refusedEarly) {
        // The answer may be there all the same.
      }
      if (sample.expected() == BadRequests.Expected.LOST) {
        assertThat(client.finish().isClosedByServer()).isTrue();
        return;
      }
      RawClient.Reply reply = client.reply();
      assertThat(reply.headers().get("x-request-id")).matches("req-[0-9a-f]{8}");
      if (sample.expected() == BadRequests.Expected.REFUSED || reply.status() >= 400) {
        assertThat(reply.status())
            .as(sample.what())
            .isIn(400, 403, 404, 405, 409, 413, 414, 421, 505);
        assertThat(reply.at("request_id")).isEqualTo(reply.headers().get("x-request-id"));
        assertThat(reply.json()).containsOnlyKeys("request_id", "error", "message", "details");
      } else {
        assertThat(reply.status()).isEqualTo(200);
      }
    } catch (EOFException noAnswer) {
      throw new AssertionError("closed without an answer", noAnswer);
    }
  }

  @Test
  void areRefusedByTheDoorAndChangeNothing() throws Exception {
    HttpConfig config = HttpConfig.DEFAULTS.at("127.0.0.1", 0);
    try (DoorFixture fixture = new DoorFixture(config);
        LogCapture log = new LogCapture(Dispatcher.class)) {
      eachSample(
          sample -> {
            send(fixture.door.port(), sample);
            List<String> changes = List.copyOf(fixture.rollout.changes);
            List<String> logged = List.copyOf(log.lines());
            fixture.rollout.changes.clear();
            log.lines().clear();
            assertThat(changes).isEmpty();
            assertThat(logged).isEmpty();
          });
    }
  }

  @Test
  void areRefusedByARealServerAndChangeNothing(@TempDir Path root) throws Exception {
    Path agent = Files.writeString(root.resolve("agent"), "#!/bin/sh\ncat\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    Map<String, String> environment =
        Map.of("BBS_SCRIPT_AGENT", "" + agent, "BBS_RUNTIME_ROOT", "" + root.resolve("rt"));
    Duration limit = Duration.ofSeconds(60);
    try (ServerProcess server =
        ServerProcess.start(List.of("--port=0"), environment, root.resolve("log"))) {
      server.awaitReady(limit);
      try (ServerClient client = new ServerClient(server.address(), limit)) {
        assertThat(client.post("/v1/rollout/register", REGISTRATION).status()).isEqualTo(200);
        assertThat(client.post("/v1/sessions/sess-1/messages", TURN).status()).isEqualTo(200);
        String before = state(client);
        for (BadRequests.Sample sample : BadRequests.behindTheDoor(0)) {
          send(server.address().getPort(), sample);
        }
        eachSample(sample -> send(server.address().getPort(), sample));
        assertThat(state(client)).isEqualTo(before);
      }
      assertThat(server.logTail()).doesNotContain("ERROR");
    }
  }

  private static final Map<String, String> REGISTRATION =
      Map.of(
          "blackbox_type", "script",
          "router", "http://127.0.0.1:9",
          "bound_session_id", "sess-1",
          "bound_instance_id", "inst-1");
  private static final Map<String, Object> TURN =
      Map.of("turn_id", "t1", "messages", List.of(Map.of("role", "user", "content", "hi")));

  /** Without what changes by itself: names of requests, the time, the size of files. */
  private static String state(ServerClient client) throws InterruptedException {
    return (client.get("/v1/status").text()
            + client.get("/v1/rollout/pause_state").text()
            + client.get("/v1/sessions/sess-1?include_turns=1&include_trace=1").text())
        .replaceAll(
            "\"(request_id|uptime_seconds|last_seen_healthy|bytes|bytes_in_use)\":[^,}]*", "");
  }
}
