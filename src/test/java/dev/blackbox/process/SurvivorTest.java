package dev.blackbox.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.process.ProcessSpec.Output;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our own process is killed with -9, and its successor ends what was left (P7). */
class SurvivorTest {

  @TempDir Path directory;

  @Test
  void p7ASuccessorReapsWhatAKilledServerLeft() throws Exception {
    String marker = "test-" + UUID.randomUUID();
    Process first = host("start", marker, directory.toString());
    ProcessIdentity left;
    try (BufferedReader output = first.inputReader()) {
      String[] words = output.readLine().split(" ");
      left = new ProcessIdentity(Long.parseLong(words[0]), Long.parseLong(words[1]), words[2]);
      assertThat(first.destroyForcibly().waitFor()).isEqualTo(137);
    }
    Path out = directory.resolve("out");
    long written = Files.size(out);
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> Files.size(out) > written + 10);
    assertThat(left.isRunning()).isTrue();

    Process second = host("reap", marker, "");

    // The shell and what it left behind, and as many of its short sleeps as came under the eye.
    assertThat(second.inputReader().readLine()).matches("ended [2-9], left 0");
    assertThat(second.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(left.isRunning()).isFalse();
  }

  private static Process host(String... arguments) throws IOException {
    List<String> command =
        new java.util.ArrayList<>(
            List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Host.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** A server of which there is nothing but the process room. */
  static final class Host {

    private Host() {}

    public static void main(String[] arguments) throws Exception {
      String marker = arguments[1];
      if (arguments[0].equals("reap")) {
        ReapReport report = Processes.reap(List.of(), marker, Duration.ofSeconds(10));
        System.out.println("ended " + report.ended() + ", left " + report.left().size());
        return;
      }
      Path directory = Path.of(arguments[2]);
      ManagedProcess process =
          Processes.create(marker, new RecordedProcesses())
              .start(
                  new ProcessSpec(
                      "test",
                      List.of(
                          "/bin/sh",
                          "-c",
                          "setsid sleep 300 & trap '' HUP PIPE; while :; do echo x; sleep 0.02;"
                              + " done"),
                      directory,
                      Map.of("PATH", "/usr/bin:/bin"),
                      Optional.empty(),
                      new Output.File(directory.resolve("out")),
                      new Output.File(directory.resolve("err"))));
      ProcessIdentity identity = process.identity();
      System.out.println(
          identity.pid() + " " + identity.startTicks() + " " + identity.machineBootId());
      process.onExit().join();
    }
  }
}
