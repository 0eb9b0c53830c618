package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.ServerClient.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands of a real server that is killed with SIGKILL: one that ran, and one that waited. */
@Timeout(180)
class CommandKillTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String EXECUTE = "/v1/sessions/s1/execute_cmd";
  private static final String COMMANDS = "/v1/sessions/s1/commands/";

  @TempDir Path root;

  @Test
  void p2p6WhatRanIsInterruptedAndNeverRunsAgainAndWhatWaitedRuns() throws Exception {
    Map<String, Object> ran = command("ran", "echo run >> '%s/ran'; sleep 300".formatted(root));
    Map<String, Object> waited = command("waited", "echo run >> '%s/waited'".formatted(root));
    try (ServerProcess server = start();
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      assertThat(client.post("/v1/rollout/register", registration()).status()).isEqualTo(200);
      assertThat(client.post(EXECUTE, ran).status()).isEqualTo(202);
      await().atMost(LIMIT).until(() -> Files.exists(root.resolve("ran")));
      assertThat(client.post(EXECUTE, waited).status()).isEqualTo(202);
      server.kill();
    }
    try (ServerProcess server = start();
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      await()
          .atMost(LIMIT)
          .until(() -> "ended".equals(client.get(COMMANDS + "waited?wait=5").field("status")));
      assertThat(client.get(COMMANDS + "ran").field("status")).isEqualTo("interrupted");
      Answer replayed = client.post(EXECUTE, waited);
      assertThat(replayed.status()).isEqualTo(202);
      assertThat(replayed.text()).contains("\"status\":\"ended\"", "\"idempotent_replay\":true");
      assertThat(client.post(EXECUTE, ran).text())
          .contains("\"status\":\"interrupted\"", "\"idempotent_replay\":true");
      assertThat(Files.readAllLines(root.resolve("ran"))).as("runs (P2)").hasSize(1);
      assertThat(Files.readAllLines(root.resolve("waited"))).as("runs (P2)").hasSize(1);
    }
  }

  private static Map<String, Object> command(String id, String cmd) {
    return Map.of("cmd", cmd, "command_id", id, "mode", "async", "timeout", 600);
  }

  private ServerProcess start() throws IOException, InterruptedException {
    Path agent = root.resolve("agent.sh");
    if (!Files.exists(agent)) {
      Files.writeString(agent, "#!/bin/sh\ncat\n");
      Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    ServerProcess server =
        ServerProcess.start(
            List.of("--port=0"),
            Map.of(
                "BBS_SCRIPT_AGENT", agent.toString(),
                "BBS_RUNTIME_ROOT", root.resolve("rt").toString()),
            root.resolve("server.log"));
    server.awaitReady(LIMIT);
    return server;
  }

  private static Map<String, Object> registration() {
    return Map.of(
        "blackbox_type", "script",
        "router", "http://127.0.0.1:9",
        "bound_session_id", "s1",
        "bound_instance_id", "i1");
  }
}
