package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerClient.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example of docs/adding-a-backend.md behind the real server. */
@Timeout(180)
class ExampleBackendTest {

  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** What a program of one's own might look like. */
  private static final String PROGRAM =
      """
      #!/bin/sh
      if [ "$1" = --version ]; then echo 'example 1'; exit 0; fi
      prompt=$(cat)
      [ "$prompt" = fail ] && { echo 'out of ideas' >&2; exit 3; }
      printf '{"type":"say","text":"%s %s: %s"}\\n{"type":"done"}\\n' "$1" "$EXAMPLE_MOOD" "$prompt"
      """;

  @TempDir Path root;

  @Test
  void itAnswersOverHttpFailsWithItsErrorsAndRefusesUnknownOptions() throws Exception {
    Path program = Files.writeString(root.resolve("example"), PROGRAM);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    try (ServerProcess server =
        ServerProcess.start(
            ExampleServer.class,
            List.of("--port=0"),
            Map.of(
                "BBS_RUNTIME_ROOT", root.resolve("rt").toString(),
                "EXAMPLE_BIN", program.toString()),
            root.resolve("server.log"))) {
      server.awaitReady(LIMIT);
      try (ServerClient client = new ServerClient(server.address(), LIMIT)) {
        Answer refused = register(client, Map.of("mood", "quiet", "model", "m"));
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text())
            .contains(
                "Invalid example backend_options", "mood: must be one of", "model: unexpected");
        assertThat(register(client, Map.of("mood", "loud")).status()).isEqualTo(200);
        Answer first = turn(client, "t1", "--hello");
        assertThat(first.status()).as(first.text()).isEqualTo(200);
        assertThat(first.text()).contains("--session loud: --hello");
        assertThat(turn(client, "t1", "--hello").field("idempotent_replay")).isEqualTo("true");
        Answer failed = turn(client, "t2", "fail");
        assertThat(failed.status()).isEqualTo(502);
        assertThat(failed.text()).contains("example exited with code 3", "out of ideas");
      }
    }
  }

  private static Answer register(ServerClient client, Map<String, Object> options)
      throws InterruptedException {
    return client.post(
        "/v1/rollout/register",
        Map.of(
            "blackbox_type", "example",
            "router", "http://127.0.0.1:9/v1",
            "bound_session_id", "s1",
            "bound_instance_id", "i1",
            "backend_options", options));
  }

  private static Answer turn(ServerClient client, String id, String prompt)
      throws InterruptedException {
    return client.post(
        "/v1/sessions/s1/messages",
        Map.of("turn_id", id, "messages", List.of(Map.of("role", "user", "content", prompt))));
  }
}
