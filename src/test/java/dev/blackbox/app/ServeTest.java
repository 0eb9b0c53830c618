package dev.blackbox.app;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How {@code serve} starts and ends, with real processes and real signals. */
class ServeTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path state;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endWhatWasStarted() throws InterruptedException {
    for (Process process : started) {
      process.destroyForcibly();
      process.waitFor();
    }
  }

  @Test
  void itSaysInOneLineThatItIsReadyAndWhatItRecovered() throws Exception {
    Process process = start("quick");

    assertThat(process.inputReader().readLine())
        .isEqualTo(
            "BlackboxServer "
                + Version.number()
                + " ready at http://127.0.0.1:1, state in "
                + state
                + ", boot 3, recovered 1 turn");
  }

  @Test
  void sigtermEndsItInOrderWithExitCodeZero() throws Exception {
    Process process = ready("quick");

    signal(process, "TERM");

    assertThat(exitCode(process)).isEqualTo(ExitCode.OK.number());
    assertThat(state.resolve("closed")).exists();
    assertThat(errors(process)).isEmpty();
  }

  @Test
  void sigintDoesTheSame() throws Exception {
    Process process = ready("quick");

    signal(process, "INT");

    assertThat(exitCode(process)).isEqualTo(ExitCode.OK.number());
    assertThat(state.resolve("closed")).exists();
  }

  @Test
  void theSecondSignalHurries() throws Exception {
    Process process = ready("slow");
    signal(process, "TERM");
    await().atMost(LIMIT).until(() -> Files.exists(state.resolve("closing")));

    signal(process, "TERM");

    assertThat(exitCode(process)).isEqualTo(ExitCode.OK.number());
    assertThat(state.resolve("closed")).exists();
  }

  @Test
  void theThirdSignalEndsItAtOnce() throws Exception {
    Process process = ready("stuck");
    signal(process, "TERM");
    await().atMost(LIMIT).until(() -> Files.exists(state.resolve("closing")));

    signal(process, "TERM");
    signal(process, "INT");

    // Two signals of one number may be merged by the kernel, two of different numbers are not.
    assertThat(exitCode(process)).isEqualTo(ExitCode.SHUTDOWN_INCOMPLETE.number());
    assertThat(errors(process)).contains("told to end for the third time");
  }

  @Test
  void anEndThatTakesTooLongIsCutShort() throws Exception {
    Process process = ready("stuck", "--shutdown-timeout=0");
    long before = System.nanoTime();

    signal(process, "TERM");

    assertThat(exitCode(process)).isEqualTo(ExitCode.SHUTDOWN_INCOMPLETE.number());
    assertThat(errors(process)).contains("the orderly end took longer than 5.0 s");
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(20));
  }

  @Test
  void badSettingsAreAllNamedWithoutAStackTrace() throws Exception {
    Process process = start("quick", "--port=abc", "--max-turns", "0");

    assertThat(exitCode(process)).isEqualTo(ExitCode.USAGE.number());
    assertThat(errors(process).lines())
        .containsExactlyInAnyOrder(
            "bbs: --port is \"abc\", but must be a whole number from 0 to 65535.",
            "bbs: --max-turns is \"0\", but must be a whole number from 1 to 2147483647.");
  }

  @Test
  void anUnknownOptionIsAUsageError() throws Exception {
    Process process = start("quick", "--prot=1");

    assertThat(exitCode(process)).isEqualTo(ExitCode.USAGE.number());
    assertThat(errors(process)).startsWith("bbs: Unknown option: '--prot=1'").contains("--help");
  }

  @Test
  void aFaultOfOurOwnHasItsOwnCodeAndItsTraceInTheLog() throws Exception {
    Process process = start("broken");

    assertThat(exitCode(process)).isEqualTo(ExitCode.INTERNAL.number());
    assertThat(errors(process))
        .contains("ERROR", "a bug", "at dev.blackbox.app.")
        .contains("bbs: a fault of the program itself");
  }

  @Test
  void aTakenPortIsNamed() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Process process =
          startReal("--port=" + other.getLocalPort(), "--runtime-root=" + state.resolve("r"));

      assertThat(exitCode(process)).isEqualTo(ExitCode.PORT_TAKEN.number());
      assertThat(errors(process).lines())
          .containsExactly(
              "bbs: port "
                  + other.getLocalPort()
                  + " on 127.0.0.1 is taken by another program; set --port.");
      assertThat(state.resolve("r")).doesNotExist();
    }
  }

  @Test
  void anAddressThatIsNotOursIsABadSetting() throws Exception {
    Process process = startReal("--host=192.0.2.1", "--port=0"); // RFC 5737: nobody's

    assertThat(exitCode(process)).isEqualTo(ExitCode.USAGE.number());
    assertThat(errors(process)).startsWith("bbs: cannot listen on 192.0.2.1:0");
  }

  @Test
  void aPlaceThatCannotBeWrittenIsNamed() throws Exception {
    Path file = Files.createFile(state.resolve("file"));

    Process process = startReal("--port=0", "--runtime-root=" + file.resolve("root"));

    assertThat(exitCode(process)).isEqualTo(ExitCode.NOT_WRITABLE.number());
    assertThat(errors(process).lines()).singleElement().asString().contains(file.toString());
  }

  private Process ready(String manner, String... options) throws IOException {
    Process process = start(manner, options);
    assertThat(process.inputReader().readLine()).contains(" ready at ");
    return process;
  }

  private Process start(String manner, String... options) throws IOException {
    return start(TrialServer.class, Map.of("TRIAL", manner, "BBS_STATE_DIR", "" + state), options);
  }

  private Process startReal(String... options) throws IOException {
    return start(Main.class, Map.of(), options);
  }

  private Process start(Class<?> main, Map<String, String> environment, String... options)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of("serve"));
    arguments.addAll(List.of(options));
    // A build that runs in the background of a shell ignores SIGINT, and so would this process.
    List<String> words = new ArrayList<>(List.of("env", "--default-signal=INT"));
    words.addAll(JavaCommand.of(main, arguments).words());
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().keySet().removeIf(name -> name.startsWith("BBS_"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private static void signal(Process process, String name) throws Exception {
    Process kill =
        new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + process.pid()).start();
    assertThat(kill.waitFor()).isZero();
  }

  private static int exitCode(Process process) throws InterruptedException {
    assertThat(process.waitFor(LIMIT.toSeconds(), SECONDS)).isTrue();
    return process.exitValue();
  }

  private static String errors(Process process) throws IOException {
    return new String(
        process.getErrorStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
  }
}
