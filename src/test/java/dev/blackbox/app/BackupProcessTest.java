package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.ServerClient.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bbs ledger backup} as a process of its own, beside a real server that works. */
@Timeout(300)
class BackupProcessTest {

  private static final Duration LIMIT = Duration.ofSeconds(90);

  /** Of each answer, so that a few turns do not fit onto a small disk. */
  private static final int ANSWER_BYTES = 60_000;

  private static final int TURNS_AT_LEAST = 12;

  @TempDir Path root;

  /** How a command ended, and all that it printed. */
  private record Ended(int exitCode, String text) {}

  @Test
  void p1p3ABackupOfAServerAtWorkIsWholeAndAFullDiskLeavesNoHalfOne() throws Exception {
    Map<String, String> answers = new ConcurrentHashMap<>();
    Map<String, String> before;
    Path state = root.resolve("state");
    Path backup = root.resolve("backup");
    AtomicBoolean over = new AtomicBoolean();
    try (ServerProcess server = start("state");
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      assertThat(client.post("/v1/rollout/register", registration()).status()).isEqualTo(200);
      Thread load = Thread.ofVirtual().start(() -> submitUntil(over, client, answers));
      await().atMost(LIMIT).until(() -> answers.size() >= TURNS_AT_LEAST);
      before = new TreeMap<>(answers);
      Ended copied = ledger(List.of(), "backup", backup, state);
      assertThat(copied.exitCode).as(copied.text).isZero();
      over.set(true);
      load.join();
      assertThat(answers.size()).as("turns went on meanwhile").isGreaterThan(before.size());
      assertThat(client.get("/readyz").status()).isEqualTo(200);
    }
    Path restored = root.resolve("restored");
    Ended restore = ledger(List.of(), "restore", backup, restored);
    assertThat(restore.exitCode).as(restore.text).isZero();
    try (ServerProcess server = start("restored");
        ServerClient client = new ServerClient(server.address(), LIMIT)) {
      for (Map.Entry<String, String> answer : before.entrySet()) {
        assertThat(lasting(submit(client, answer.getKey())))
            .as(answer.getKey())
            .isEqualTo(answer.getValue());
      }
    }
    Ended check = run(List.of(), List.of("ledger", "check", "--state-dir", restored.toString()));
    assertThat(check.exitCode).as(check.text).isZero();
    // Last, because it ends the test where no small disk can be made.
    aFullDisk(state);
  }

  /** It says so and leaves nothing behind, and goes well when there is room. */
  private void aFullDisk(Path state) throws IOException, InterruptedException {
    Path place = Files.createDirectory(root.resolve("disk"));
    Path to = place.resolve("backup");
    try (SmallDisk small = SmallDisk.make(place, 1)) {
      Ended full = ledger(small.entering(), "backup", to, state);
      assertThat(full.exitCode).as(full.text).isEqualTo(ExitCode.NOT_WRITABLE.number());
      assertThat(full.text).contains("No space left", "Free space").doesNotContain("\tat ");
      List<String> look = new ArrayList<>(small.entering());
      look.addAll(List.of("ls", "-A", to.toString()));
      assertThat(ended(new ProcessBuilder(look)).text.strip()).isEqualTo("ledger.lock");
      small.remount("size=64m");
      Ended again = ledger(small.entering(), "backup", to, state);
      assertThat(again.exitCode).as(again.text).isZero();
    }
  }

  private static Ended ledger(List<String> through, String verb, Path other, Path state)
      throws IOException, InterruptedException {
    return run(through, List.of("ledger", verb, other.toString(), "--state-dir", state.toString()));
  }

  private static Ended run(List<String> through, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(through);
    words.addAll(JavaCommand.of(Main.class, arguments).words());
    return ended(new ProcessBuilder(words));
  }

  private static Ended ended(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), text);
  }

  private static void submitUntil(
      AtomicBoolean over, ServerClient client, Map<String, String> answers) {
    try {
      for (int turn = 1; !over.get(); turn++) {
        Answer answer = submit(client, "t" + turn);
        if (answer.status() == 200) {
          answers.put("t" + turn, lasting(answer));
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Answer submit(ServerClient client, String turn) throws InterruptedException {
    return client.post(
        "/v1/sessions/s1/messages",
        Map.of(
            "turn_id",
            turn,
            "messages",
            List.of(Map.of("role", "user", "content", "please, " + turn))));
  }

  /** What every answer about a turn must repeat: all but its own name and the replay flag. */
  private static String lasting(Answer answer) {
    return answer
        .text()
        .replaceFirst("\"request_id\":\"[^\"]*\"", "")
        .replaceFirst("\"idempotent_replay\":(true|false)", "");
  }

  private ServerProcess start(String state) throws IOException, InterruptedException {
    Path program = root.resolve("agent.sh");
    Files.writeString(
        program,
        "#!/bin/sh\ncat > '%s/prompt'\nhead -c %d /dev/zero | tr '\\0' 'x'\n"
            .formatted(root, ANSWER_BYTES));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    ServerProcess server =
        ServerProcess.start(
            List.of(
                "--port=0",
                "--state-dir=" + root.resolve(state),
                "--runtime-root=" + root.resolve("runtime"),
                "--script-agent=" + program),
            Map.of("BBS_MAX_TURNS", "100000"),
            root.resolve("server.log"));
    server.awaitReady(LIMIT);
    return server;
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
        "i1",
        "server_config",
        Map.of("max_turns", 100_000));
  }
}
