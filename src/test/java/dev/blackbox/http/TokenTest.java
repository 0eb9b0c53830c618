package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real server with a token: it asks for it, and shows it nowhere. */
class TokenTest {

  private static final String TOKEN = "s3cret-0123456789";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path root;

  @Test
  void isAskedForAndShownNowhere() throws Exception {
    Path file = Files.writeString(root.resolve("token"), TOKEN + "\n");
    Path agent = Files.writeString(root.resolve("agent"), "#!/bin/sh\nenv\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    Map<String, String> environment =
        Map.of(
            "BBS_API_TOKEN_FILE", "" + file,
            "BBS_SCRIPT_AGENT", "" + agent,
            "BBS_LOG_LEVEL", "trace",
            "BBS_RUNTIME_ROOT", "" + root.resolve("rt"));
    Path log = root.resolve("log");
    try (ServerProcess server = ServerProcess.start(List.of("--port=0"), environment, log)) {
      server.awaitReady(LIMIT);
      int port = server.address().getPort();
      assertThat(exchange(port, "GET", "/v1/status", "", "").status()).isEqualTo(401);
      assertThat(exchange(port, "GET", "/v1/status", "wrong", "").status()).isEqualTo(401);
      assertThat(exchange(port, "GET", "/health", "", "").status()).isEqualTo(200);
      RawClient.Reply status = exchange(port, "GET", "/v1/status", TOKEN, "");
      assertThat(status.status()).isEqualTo(200);
      String registration =
          "{\"blackbox_type\":\"script\",\"router\":\"http://127.0.0.1:9\","
              + "\"bound_session_id\":\"s1\",\"bound_instance_id\":\"i1\"}";
      assertThat(exchange(port, "POST", "/v1/rollout/register", TOKEN, registration).status())
          .isEqualTo(200);
      String turn = "{\"turn_id\":\"t1\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
      // The agent answers with all variables that it was given, a command likewise.
      RawClient.Reply answer = exchange(port, "POST", "/v1/sessions/s1/messages", TOKEN, turn);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).contains("OPENAI_BASE_URL").doesNotContain("API_TOKEN", TOKEN);
      RawClient.Reply command =
          exchange(port, "POST", "/v1/sessions/s1/execute_cmd", TOKEN, "{\"cmd\":\"env\"}");
      assertThat(command.body()).contains("PATH=").doesNotContain("API_TOKEN", TOKEN);
      assertThat(status.body()).doesNotContain(TOKEN);
      assertThat(Files.readString(Path.of("/proc/" + server.pid() + "/cmdline")))
          .doesNotContain(TOKEN);
    }
    assertThat(Files.readString(log))
        .contains("for those who have the API token")
        .doesNotContain(TOKEN);
  }

  private static RawClient.Reply exchange(
      int port, String method, String path, String token, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String authorization = token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n";
    try (RawClient client = new RawClient(port)) {
      client.send(
          DoorFixture.head(method, path, "", bytes.length)
              .replace("Host: t\r\n", "Host: t\r\n" + authorization));
      return client.send(bytes).reply();
    }
  }
}
