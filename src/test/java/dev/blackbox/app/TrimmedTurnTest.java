package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

/** What a real server says of a session that its retention has trimmed. */
@Timeout(120)
class TrimmedTurnTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path root;

  @Test
  void aRetryOfATrimmedTurnIsGoneAndNeverRunsAgainAlsoAfterAKill() throws Exception {
    Path agent = root.resolve("agent");
    Files.writeString(
        agent, "#!/bin/sh\ncat >/dev/null\necho run >> " + root + "/runs\necho done\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (ServerProcess server = start(agent);
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      register(client, "s1");
      assertThat(submit(client, "s1").status()).isEqualTo(200);
      assertThat(client.post("/v1/sessions/s1/abort", Map.of()).status()).isEqualTo(200);
      register(client, "s2");
      assertThat(submit(client, "s2").status()).isEqualTo(200);
      await().atMost(LIMIT).until(() -> submit(client, "s1").status() == 410);
      assertGone(submit(client, "s1"));
      assertThat(submit(client, "s2").field("idempotent_replay")).isEqualTo("true");
      server.kill();
    }
    try (ServerProcess server = start(agent);
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      assertGone(submit(client, "s1"));
    }
    assertThat(Files.readAllLines(root.resolve("runs"))).containsExactly("run", "run");
  }

  /** P3, P6: what became of it is told whatever is bound, and by every route. */
  @Test
  void p6EveryRouteSaysThatATrimmedSessionIsGoneWhileAnotherIsBound() throws Exception {
    Path agent = root.resolve("agent");
    Files.writeString(agent, "#!/bin/sh\ncat >/dev/null\necho done\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (ServerProcess server = start(agent);
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      register(client, "s1");
      assertThat(submit(client, "s1").status()).isEqualTo(200);
      assertThat(execute(client).status()).isEqualTo(200);
      assertThat(client.post("/v1/sessions/s1/abort", Map.of()).status()).isEqualTo(200);
      register(client, "s2");
      // The newest command is kept, and the session that it is of: s2 has it now.
      assertThat(submit(client, "s2").status()).isEqualTo(200);
      assertThat(client.post("/v1/sessions/s2/execute_cmd", Map.of("cmd", "true")).status())
          .isEqualTo(200);
      String turn = "/v1/sessions/s1/turns/t1";
      assertThat(client.get(turn).status()).isIn(409, 410);
      await().atMost(LIMIT).until(() -> client.get(turn).status() == 410);
      assertGone(client.get(turn));
      assertGone(client.get(turn + "?wait=1"));
      assertGone(client.post(turn + "/cancel", Map.of()));
      assertGone(submit(client, "s1"));
      for (Answer answer :
          List.of(
              client.get("/v1/sessions/s1"),
              client.get("/v1/sessions/s1?include_history=true&include_trace=true"),
              client.get("/v1/sessions/s1/turns/t2"),
              client.get("/v1/sessions/s1/commands"),
              client.get("/v1/sessions/s1/commands/c1"),
              client.post("/v1/sessions/s1/commands/c1/cancel", Map.of()),
              client.post("/v1/sessions/s1/abort", Map.of()),
              execute(client))) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(410);
        assertThat(answer.text()).contains("\"session_id\":\"s1\"", "\"reason\":\"age\"");
      }
      assertSaid(client);
      // Of another session that was not trimmed, or never was, it is still said which one is bound.
      assertThat(client.get("/v1/sessions/s3/turns/t1").field("error"))
          .isEqualTo("bound_session_mismatch");
      assertThat(client.post("/v1/sessions/s2/abort", Map.of()).status()).isEqualTo(200);
      register(client, "s1");
      assertThat(client.get(turn).status()).as("a new session of that name").isEqualTo(404);
    }
  }

  /** What was trimmed, what is in use, and the budget. */
  private static void assertSaid(ServerClient client) throws InterruptedException {
    assertThat(client.get("/v1/status").text())
        .containsPattern("\"bytes\":\\d+,\"bytes_in_use\":\\d+,\"bytes_max\":1000000000,")
        .contains("\"sessions_trimmed\":1}");
    assertThat(client.get("/readyz").text())
        .containsPattern(
            "takes facts, boot 1; \\d+ of 1000000000 bytes in use, 1 sessions trimmed");
  }

  private static Answer execute(ServerClient client) throws InterruptedException {
    return client.post("/v1/sessions/s1/execute_cmd", Map.of("cmd", "true", "command_id", "c1"));
  }

  private static void assertGone(Answer answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(410);
    assertThat(answer.field("error")).isEqualTo("gone");
    assertThat(answer.text()).contains("\"turn_id\":\"t1\"", "committed");
  }

  private ServerProcess start(Path agent) throws Exception {
    ServerProcess server =
        ServerProcess.start(
            List.of("--port=0"),
            Map.of(
                "BBS_RUNTIME_ROOT",
                "" + root.resolve("rt"),
                "BBS_SCRIPT_AGENT",
                "" + agent,
                "BBS_LEDGER_RETENTION_SECONDS",
                "1",
                "BBS_LEDGER_MAX_BYTES",
                "1000000000"),
            root.resolve("log"));
    server.awaitReady(LIMIT);
    return server;
  }

  private static void register(ServerClient client, String session) throws InterruptedException {
    Answer registered =
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type", "script",
                "router", "http://127.0.0.1:9",
                "bound_session_id", session,
                "bound_instance_id", "i1"));
    assertThat(registered.status()).as(registered.text()).isEqualTo(200);
  }

  private static Answer submit(ServerClient client, String session) throws InterruptedException {
    return client.post(
        "/v1/sessions/" + session + "/messages",
        Map.of("turn_id", "t1", "messages", List.of(Map.of("role", "user", "content", "work"))));
  }
}
