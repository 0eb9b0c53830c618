package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole server as a process: what an operator sees of its start, its end and its ledger. */
class ServeRealTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path directory;
  private final List<ServerProcess> servers = new ArrayList<>();

  @AfterEach
  void endServers() {
    servers.forEach(ServerProcess::close);
  }

  @Test
  void itServesEndsInOrderAndCountsItsBoots() throws Exception {
    ServerProcess first = start();
    assertThat(first.awaitReady(LIMIT)).contains("boot 1,", directory.resolve("state").toString());
    try (ServerClient client = new ServerClient(first.address(), LIMIT)) {
      assertThat(client.get("/health").status()).isEqualTo(200);
      assertThat(client.get("/v1/status").field("status")).isEqualTo("idle");
    }
    first.terminate();
    assertThat(first.awaitEnd(LIMIT)).as(first.logTail()).isEqualTo(ExitCode.OK.number());

    assertThat(start().awaitReady(LIMIT)).contains("boot 2,");
  }

  @Test
  void aSecondServerOnTheSameStateIsRefusedAndNamesTheFirst() throws Exception {
    ServerProcess first = start();
    first.awaitReady(LIMIT);

    ServerProcess second = start();

    assertThat(second.awaitEnd(LIMIT)).isEqualTo(ExitCode.STATE_LOCKED.number());
    assertThat(log(second)).containsOnlyOnce("bbs: ").contains("pid " + first.pid());
  }

  @Test
  void aLedgerOfANewerVersionIsRefused() throws Exception {
    runOnce();
    Path segment = onlyFile("journal-*.log");
    // The head of a segment, see docs/ledger.md: its format at byte 8, its CRC32C at byte 56.
    ByteBuffer head = ByteBuffer.wrap(Files.readAllBytes(segment));
    head.putInt(8, head.getInt(8) + 1);
    CRC32C checksum = new CRC32C();
    checksum.update(head.slice(0, 56));
    Files.write(segment, head.putInt(56, (int) checksum.getValue()).array());

    ServerProcess server = start();

    assertThat(server.awaitEnd(LIMIT)).isEqualTo(ExitCode.LEDGER_NEWER.number());
    assertThat(log(server)).containsOnlyOnce("bbs: ").contains("newer version");
  }

  @Test
  void aLedgerThatLostItsDatabaseMakesItAgainAndSaysSo() throws Exception {
    runOnce();
    Files.delete(onlyFile("*.mv.db"));

    ServerProcess server = start();

    assertThat(server.awaitReady(LIMIT)).contains("boot 2,");
    assertThat(log(server)).contains("made again from 2 facts of the journal");
    server.terminate();
    assertThat(server.awaitEnd(LIMIT)).isEqualTo(ExitCode.OK.number());
    assertThat(ledger("check")).isEqualTo(ExitCode.OK.number());
  }

  @Test
  void aLedgerThatLostItsJournalIsRefused() throws Exception {
    runOnce();
    Files.delete(onlyFile("journal-*.log"));

    ServerProcess server = start();

    assertThat(server.awaitEnd(LIMIT)).isEqualTo(ExitCode.LEDGER_DAMAGED.number());
    assertThat(log(server)).containsOnlyOnce("bbs: ").contains("journal");
  }

  @Test
  void theLedgerCanBeCheckedOnlyWhileNoServerRuns() throws Exception {
    ServerProcess server = start();
    server.awaitReady(LIMIT);
    assertThat(ledger("check")).isEqualTo(ExitCode.STATE_LOCKED.number());

    server.kill();

    assertThat(ledger("check")).isEqualTo(ExitCode.OK.number());
    assertThat(ledger("timeline")).isEqualTo(ExitCode.OK.number());
    assertThat(Files.readString(directory.resolve("timeline.out"), StandardCharsets.UTF_8))
        .containsOnlyOnce("boot_started")
        .contains("pid=" + server.pid());
    assertThat(start().awaitReady(LIMIT)).as("looks are no boots").contains("boot 2,");
  }

  private void runOnce() throws InterruptedException {
    ServerProcess server = start();
    server.awaitReady(LIMIT);
    server.terminate();
    assertThat(server.awaitEnd(LIMIT)).isEqualTo(ExitCode.OK.number());
  }

  private Path onlyFile(String glob) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve("state"), glob)) {
      List<Path> found = new ArrayList<>();
      files.forEach(found::add);
      assertThat(found).hasSize(1);
      return found.getFirst();
    }
  }

  private ServerProcess start() {
    ServerProcess server =
        ServerProcess.start(
            List.of(
                "--port=0",
                "--runtime-root=" + directory.resolve("runtime"),
                "--state-dir=" + directory.resolve("state")),
            Map.of(),
            directory.resolve("server-" + servers.size() + ".log"));
    servers.add(server);
    return server;
  }

  private String log(ServerProcess server) throws Exception {
    return Files.readString(directory.resolve("server-" + servers.indexOf(server) + ".log"));
  }

  private int ledger(String command) throws Exception {
    List<String> arguments =
        List.of("ledger", command, "--state-dir=" + directory.resolve("state"));
    Process process =
        new ProcessBuilder(JavaCommand.of(Main.class, arguments).words())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(command + ".out").toFile())
            .start();
    assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }
}
