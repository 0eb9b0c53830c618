package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real server as pid 1, which the kernel makes the parent of all orphans. */
@Timeout(120)
class FirstProcessTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** How a program becomes the first of its own world; killed with the one that is asked. */
  private static final List<String> ALONE =
      List.of(
          "unshare",
          "--user",
          "--map-root-user",
          "--pid",
          "--fork",
          "--kill-child",
          "--mount-proc");

  /** Zombies there, whatever their parent is. */
  private static final String COUNT = "cat /proc/[0-9]*/stat | grep -c '^[0-9]* (.*) Z ' || true";

  /** Leaves an orphan of a session of its own, which outlives the shell and then ends. */
  private static final String ORPHAN =
      "setsid env -u BBS_PROCESS_ID -u BBS_PROCESS_MARKER sh -c 'exit 3' & exit 7";

  @TempDir Path root;

  @Test
  void orphansThatEndedAreCollectedNoExitCodeIsStolenAndATerminationIsHeard() throws Exception {
    assumeAlone();
    try (ServerProcess server = start()) {
      assertThat(server.awaitReady(LIMIT)).contains("boot 1,");
      try (ServerClient client = new ServerClient(server.address(), LIMIT)) {
        assertThat(client.post("/v1/rollout/register", registration()).status()).isEqualTo(200);
        assertThat(stdout(client, "readlink /proc/1/exe")).contains("java");
        for (int round = 0; round < 20; round++) {
          assertThat(run(client, ORPHAN)).contains("\"returncode\":7");
        }
        await()
            .atMost(Duration.ofSeconds(30))
            .untilAsserted(() -> assertThat(stdout(client, COUNT).strip()).isEqualTo("0"));
      }
      // unshare takes no SIGTERM; its child, the first process in there, must.
      server.descendants().getFirst().destroy();
      assertThat(server.awaitEnd(LIMIT)).isZero();
    }
  }

  private static void assumeAlone() throws IOException, InterruptedException {
    boolean works = false;
    if (AgentPrograms.onPath("unshare").isPresent()) {
      List<String> words = new ArrayList<>(ALONE);
      words.add("true");
      Process trial =
          new ProcessBuilder(words)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      works = trial.waitFor(20, TimeUnit.SECONDS) && trial.exitValue() == 0;
    }
    if (!works) {
      System.out.println("FirstProcessTest is skipped: unshare cannot make a pid namespace here");
    }
    assumeThat(works).as("unshare can make a pid namespace").isTrue();
  }

  private ServerProcess start() throws IOException {
    Path agent = root.resolve("agent.sh");
    Files.writeString(agent, "#!/bin/sh\ncat\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    return ServerProcess.start(
        ALONE,
        Main.class,
        List.of("--port=0"),
        Map.of(
            "BBS_SCRIPT_AGENT",
            agent.toString(),
            "BBS_RUNTIME_ROOT",
            root.resolve("rt").toString()),
        root.resolve("server.log"));
  }

  private static String stdout(ServerClient client, String command) throws InterruptedException {
    Object stdout =
        client.post("/v1/sessions/s1/execute_cmd", Map.of("cmd", command)).field("stdout");
    return String.valueOf(stdout);
  }

  private static String run(ServerClient client, String command) throws InterruptedException {
    return client.post("/v1/sessions/s1/execute_cmd", Map.of("cmd", command)).text();
  }

  private static Map<String, Object> registration() {
    return Map.of(
        "blackbox_type", "script",
        "router", "http://127.0.0.1:9",
        "bound_session_id", "s1",
        "bound_instance_id", "i1");
  }
}
