package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Turns that wait for a resume, and a server that is killed meanwhile. */
@Timeout(120)
class PausedKillTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path root;

  @Test
  void whatWaitsForAResumeSurvivesAKillStillPausedAndRunsOnce() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start(0, EngineScript.always(Step.text("hi")))) {
      try (ServerProcess server = start();
          ServerClient client = new ServerClient(server.address(), LIMIT);
          ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        register(client, engine);
        assertThat(client.post("/v1/rollout/pause", Map.of()).status()).isEqualTo(200);
        CompletableFuture<Answer> lost = submitting(client, threads);
        awaitQueued(client);
        assertThat(lost).isNotDone();
        server.kill();
        assertThat(lost.handle((_, failure) -> failure != null).get()).isTrue();
      }
      try (ServerProcess server = start();
          ServerClient client = new ServerClient(server.address(), LIMIT);
          ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        assertThat(client.get("/v1/rollout/pause_state").body()).containsEntry("paused", true);
        CompletableFuture<Answer> again = submitting(client, threads);
        assertThat(client.get("/v1/sessions/s1/turns/t1?wait=1").field("status"))
            .isEqualTo("queued");
        assertThat(again).isNotDone();
        assertThat(root.resolve("runs")).doesNotExist();
        assertThat(client.post("/v1/rollout/resume", Map.of()).status()).isEqualTo(200);
        assertThat(again.get(LIMIT.toSeconds(), TimeUnit.SECONDS).status()).isEqualTo(200);
        assertThat(Files.readAllLines(root.resolve("runs"))).containsExactly("work");
      }
    }
  }

  private ServerProcess start() throws Exception {
    Path agent = root.resolve("agent");
    Files.writeString(
        agent, "#!/bin/sh\ncat >> " + root + "/runs\necho >> " + root + "/runs\necho done\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    ServerProcess server =
        ServerProcess.start(
            List.of("--port=0"),
            Map.of("BBS_RUNTIME_ROOT", "" + root.resolve("rt"), "BBS_SCRIPT_AGENT", "" + agent),
            root.resolve("log"));
    server.awaitReady(LIMIT);
    return server;
  }

  private static void register(ServerClient client, ScriptedEngine engine)
      throws InterruptedException {
    Answer registered =
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type", "script",
                "router", engine.origin() + "/v1",
                "bound_session_id", "s1",
                "bound_instance_id", "i1"));
    assertThat(registered.status()).as(registered.text()).isEqualTo(200);
  }

  private static CompletableFuture<Answer> submitting(
      ServerClient client, ExecutorService threads) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return client.post(
                "/v1/sessions/s1/messages",
                Map.of(
                    "turn_id",
                    "t1",
                    "messages",
                    List.of(Map.of("role", "user", "content", "work"))));
          } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
          }
        },
        threads);
  }

  private static void awaitQueued(ServerClient client) throws IOException, InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (client.get("/v1/sessions/s1/turns/t1").status() != 200) {
      assertThat(System.nanoTime()).isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
