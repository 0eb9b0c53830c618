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
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real server with its ledger on a disk of four megabytes that gets full, or is read-only. */
@Timeout(300)
class FullDiskTest {

  private static final Duration LIMIT = Duration.ofSeconds(90);

  /** Enough not to fit into the rest of a page that the journal's file has already. */
  private static final String LONG = "long ".repeat(4_000);

  @TempDir Path root;

  private @Nullable SmallDisk disk;

  @Test
  void p1WhatAFullDiskCannotTakeIsRefusedOrHeldAndNeverToldAsDone() throws Exception {
    try (SmallDisk small = disk()) {
      Answer first;
      Answer third;
      try (ServerProcess server = start();
          ServerClient client = new ServerClient(server.address(), LIMIT)) {
        assertThat(client.post("/v1/rollout/register", registration()).status()).isEqualTo(200);
        first = submit(client, "t1", "sync", "please");
        assertThat(first.status()).isEqualTo(200);
        assertThat(submit(client, "t2", "async", "wait").status()).isEqualTo(202);
        await().atMost(LIMIT).until(() -> Files.exists(root.resolve("waiting")));

        small.fill();
        Files.createFile(root.resolve("go"));
        assertSaysWhy(client);
        assertStaysTrue(client, first);
        assertThat(server.isAlive()).isTrue();

        small.free();
        // Nobody asks for anything that would be recorded, and still it goes on.
        await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 200);
        await().atMost(LIMIT).until(() -> status(client, "t2").equals("committed"));
        small.fill();
        await().atMost(LIMIT).until(() -> submit(client, "t3", "sync", LONG).status() == 503);
        Answer refused = submit(client, "t3", "sync", LONG);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.field("message")).contains("No space left");
        small.free();
        await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 200);
        third = submit(client, "t3", "sync", LONG);
        assertThat(third.status()).isEqualTo(200);
        server.kill();
      }
      try (ServerProcess server = start();
          ServerClient client = new ServerClient(server.address(), LIMIT)) {
        assertThat(lasting(submit(client, "t1", "sync", "please"))).isEqualTo(lasting(first));
        assertThat(lasting(submit(client, "t3", "sync", LONG))).isEqualTo(lasting(third));
        await().atMost(LIMIT).until(() -> status(client, "t2").equals("committed"));
      }
      assertThat(Files.readAllLines(root.resolve("runs"))).as("runs (P2)").hasSize(3);
    }
  }

  @Test
  void aStartOnAFullOrReadOnlyDiskSaysWhatToDoAndGoesWellAfterwards() throws Exception {
    try (SmallDisk small = disk()) {
      try (ServerProcess server = start();
          ServerClient client = new ServerClient(server.address(), LIMIT)) {
        assertThat(client.post("/v1/rollout/register", registration()).status()).isEqualTo(200);
        server.kill();
      }
      small.fill();
      assertRefusesToStart("Free space on its disk");
      small.free();
      small.remount("ro");
      assertRefusesToStart("cannot be written");
      small.remount("rw");
      try (ServerProcess server = start();
          ServerClient client = new ServerClient(server.address(), LIMIT)) {
        await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 200);
        assertThat(submit(client, "t1", "sync", "please").status()).isEqualTo(200);
      }
    }
  }

  /** Ready no more, with the reason, and with what to do. */
  private static void assertSaysWhy(ServerClient client) throws InterruptedException {
    await().atMost(LIMIT).until(() -> client.get("/readyz").status() == 503);
    assertThat(client.get("/readyz").text()).contains("No space left", "Free space");
  }

  /** For some seconds, in which the server tries to write again and again. */
  private static void assertStaysTrue(ServerClient client, Answer first)
      throws InterruptedException {
    // The database may have failed once; from the next attempt on, a second later, reads go on.
    await().atMost(LIMIT).until(() -> client.get("/v1/sessions/s1").status() == 200);
    long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();
    while (System.nanoTime() < end) {
      assertThat(status(client, "t2")).as("a turn whose end is not recorded").isEqualTo("inflight");
      Answer replay = submit(client, "t1", "sync", "please");
      assertThat(replay.status()).as(replay.text()).isEqualTo(200);
      assertThat(lasting(replay)).isEqualTo(lasting(first));
      assertThat(submit(client, "t9", "sync", "no more").status()).isIn(409, 503);
    }
  }

  private void assertRefusesToStart(String words) throws InterruptedException, IOException {
    Path log = root.resolve("refused.log");
    Files.deleteIfExists(log);
    try (ServerProcess server = server(log)) {
      assertThat(server.awaitEnd(LIMIT)).isEqualTo(ExitCode.NOT_WRITABLE.number());
    }
    assertThat(Files.readString(log)).contains(words).doesNotContain("\tat ");
  }

  private SmallDisk disk() throws IOException {
    Path place = Files.createDirectory(root.resolve("disk"));
    SmallDisk made = SmallDisk.make(place, 4);
    disk = made;
    Path program = root.resolve("agent.sh");
    Files.writeString(
        program,
        """
        #!/bin/sh
        echo "$BBS_TURN_ID" >> '%1$s/runs'
        if [ "$(cat)" = wait ]; then
          : > '%1$s/waiting'
          until [ -e '%1$s/go' ]; do sleep 0.1; done
        fi
        head -c 20000 /dev/zero | tr '\\0' 'x'
        """
            .formatted(root));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return made;
  }

  private ServerProcess start() throws InterruptedException {
    ServerProcess server = server(root.resolve("server.log"));
    server.awaitReady(LIMIT);
    return server;
  }

  private ServerProcess server(Path log) {
    return ServerProcess.start(
        Objects.requireNonNull(disk).entering(),
        Main.class,
        List.of(
            "--port=0",
            "--state-dir=" + root.resolve("disk/state"),
            "--runtime-root=" + root.resolve("runtime"),
            "--script-agent=" + root.resolve("agent.sh")),
        Map.of(),
        log);
  }

  private static Answer submit(ServerClient client, String id, String mode, String content)
      throws InterruptedException {
    return client.post(
        "/v1/sessions/s1/messages",
        Map.of(
            "turn_id",
            id,
            "mode",
            mode,
            "messages",
            List.of(Map.of("role", "user", "content", content))));
  }

  /** What every answer about a turn must repeat: all but its own name and the replay flag. */
  private static String lasting(Answer answer) {
    return answer.status()
        + answer
            .text()
            .replaceFirst("\"request_id\":\"[^\"]*\"", "")
            .replaceFirst("\"idempotent_replay\":(true|false)", "");
  }

  private static String status(ServerClient client, String turn) throws InterruptedException {
    return client.get("/v1/sessions/s1/turns/" + turn).field("status");
  }

  private static Map<String, Object> registration() {
    return Map.of(
        "blackbox_type",
        "script",
        "router",
        "http://127.0.0.1:9",
        "bound_session_id",
        "s1",
        "bound_instance_id",
        "i1");
  }
}
