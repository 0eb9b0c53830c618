package dev.blackbox.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.process.ProcessSpec.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinuxProcessesTest {

  private static final int CAPTURE_BYTES = 10_000;

  private final String marker = "test-" + UUID.randomUUID();
  private final RecordedProcesses log = new RecordedProcesses();
  private final Processes processes = Processes.create(marker, log);

  @TempDir Path directory;

  @AfterEach
  void nothingIsLeft() {
    assertThat(Processes.reap(List.of(), marker, Duration.ofSeconds(5)).left()).isEmpty();
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"exit 0, 0", "exit 7, 7", "exit 128, 128", "kill -9 $$, -9", "kill -15 $$, -15"})
  void exitCodesOfSignalsAreNegative(String script, int code) throws Exception {
    ManagedProcess process = shell(script);

    assertThat(exitCode(process)).isEqualTo(code);
    assertThat(process.exitCode()).hasValue(code);
    assertThat(process.end(Duration.ofSeconds(1))).isTrue();
    assertThat(log.started).containsExactly(process.identity());
    assertThat(log.ended).containsExactly(Map.entry(process.identity(), code));
  }

  @Test
  void aProcessLeadsItsOwnSessionAndGroup() throws Exception {
    try (ManagedProcess process = shell("exec sleep 60")) {
      long pid = process.identity().pid();
      // A start does not wait until setsid has done its work.
      Awaitility.await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> ProcFs.stat(pid).orElseThrow().session() == pid);
      ProcFs.Stat stat = ProcFs.stat(pid).orElseThrow();

      assertThat(stat.group()).isEqualTo(pid);
      assertThat(process.identity().startTicks()).isEqualTo(stat.startTicks());
      assertThat(process.identity().isRunning()).isTrue();
      assertThat(process.exitCode()).isEmpty();
    }
  }

  @Test
  void theEnvironmentIsAsGivenAndTheInputIsEmpty() throws Exception {
    ManagedProcess process = start(List.of("/bin/sh", "-c", "cat; exec /usr/bin/env"));

    assertThat(exitCode(process)).isZero();
    assertThat(process.stdout().text().lines().map(line -> line.split("=")[0]))
        // sh adds PWD and the like by itself
        .filteredOn(name -> !List.of("PWD", "OLDPWD", "SHLVL", "_").contains(name))
        .containsExactlyInAnyOrder("PATH", "BBS_PROCESS_MARKER", "BBS_PROCESS_ID");
  }

  @Test
  void aFileBecomesTheInput() throws Exception {
    Path input = Files.writeString(directory.resolve("in"), "from a file");
    ManagedProcess process =
        processes.start(
            new ProcessSpec(
                "test",
                List.of("cat"),
                directory,
                environment(),
                Optional.of(input),
                new Output.Captured(CAPTURE_BYTES),
                new Output.Captured(CAPTURE_BYTES)));

    assertThat(exitCode(process)).isZero();
    assertThat(process.stdout().text()).isEqualTo("from a file");
  }

  @Test
  void outputIsAppendedToPrivateFiles() throws Exception {
    Path out = directory.resolve("out.log");
    for (String word : List.of("one", "two")) {
      ManagedProcess process =
          processes.start(
              new ProcessSpec(
                  "test",
                  List.of("/bin/sh", "-c", "echo " + word),
                  directory,
                  environment(),
                  Optional.empty(),
                  new Output.File(out),
                  new Output.File(directory.resolve("err.log"))));
      assertThat(exitCode(process)).isZero();
      assertThat(process.stdout()).isEqualTo(ManagedProcess.Captured.NOTHING);
    }

    assertThat(out).hasContent("one\ntwo");
    assertThat(Files.getPosixFilePermissions(out))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void bothStreamsAreCaptured() throws Exception {
    ManagedProcess process = shell("echo out; echo err >&2; printf 'ü'");

    assertThat(exitCode(process)).isZero();
    assertThat(process.stdout()).isEqualTo(new ManagedProcess.Captured("out\nü", 0));
    assertThat(process.stderr().text()).isEqualTo("err\n");
  }

  @Test
  void outputThatIsNotUtf8IsReplaced() throws Exception {
    ManagedProcess process = shell("printf 'a\\377b'");

    assertThat(exitCode(process)).isZero();
    assertThat(process.stdout().text()).isEqualTo("a\uFFFDb");
  }

  @Test
  void aBackgroundChildThatHoldsThePipeDelaysNothing() throws Exception {
    long before = System.nanoTime();
    ManagedProcess process = shell("sleep 60 & echo hi");

    assertThat(exitCode(process)).isZero();
    assertThat(process.stdout().text()).isEqualTo("hi\n");
    assertThat(process.sweep()).isTrue();
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
    assertThat(process.others()).isEmpty();
  }

  @Test
  void aBackgroundChildThatPrintsWithoutEndDelaysLittle() throws Exception {
    ManagedProcess process = shell("yes noise & echo first; sleep 0.1");

    assertThat(exitCode(process)).isZero();
    assertThat(process.stdout().text()).contains("noise");
    assertThat(process.sweep()).isTrue();
  }

  @Test
  void hugeOutputIsReadToTheEndAndKeptInPart() throws Exception {
    long megabytes = 200;
    ManagedProcess process =
        shell("echo begin; head -c " + megabytes + "M /dev/zero | tr '\\0' x; echo; echo end");

    assertThat(exitCode(process)).isZero();
    ManagedProcess.Captured captured = process.stdout();
    assertThat(captured.text()).startsWith("begin\nxxx").endsWith("xxx\nend\n");
    assertThat(captured.text()).contains("[… " + captured.droppedBytes() + " bytes left out …]");
    long printed = "begin\n".length() + (megabytes << 20) + "\nend\n".length();
    assertThat(captured.droppedBytes()).isEqualTo(printed - CAPTURE_BYTES);
  }

  @Test
  void aMissingProgramIsNamed() {
    assertThatThrownBy(() -> start(List.of("no-such-program")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no-such-program")
        .hasMessageContaining("PATH");
    assertThatThrownBy(() -> start(List.of("/etc/passwd")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/etc/passwd cannot be started: it is not an executable file");
    assertThat(log.started).isEmpty();
  }

  @Test
  void anArgumentThatIsTooLongIsAFailureToStart() {
    assertThatThrownBy(() -> start(List.of("echo", "x".repeat(200_000))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("echo cannot be started");
  }

  @Test
  void aStartThatCannotBeRecordedIsUndone() throws Exception {
    IllegalStateException full = new IllegalStateException("disk is full");
    Processes unrecorded =
        Processes.create(
            marker,
            new ProcessLog() {
              @Override
              public void started(String kind, ProcessIdentity identity) {
                log.started.add(identity);
                throw full;
              }

              @Override
              public void ended(ProcessIdentity identity, int exitCode) {
                log.ended(identity, exitCode);
              }
            });

    assertThatThrownBy(() -> unrecorded.start(spec(List.of("sleep", "60")))).isSameAs(full);
    assertThat(log.started.getFirst().isRunning()).isFalse();
    assertThat(log.ended).isEmpty();
  }

  @Test
  void processesLeaveNoDescriptorsBehind() throws Exception {
    exitCode(shell("exit 0"));
    long before = descriptors();
    for (int i = 0; i < 20; i++) {
      assertThat(exitCode(shell("echo x; echo y >&2"))).isZero();
      assertThatThrownBy(() -> start(List.of("echo", "x".repeat(200_000))))
          .isInstanceOf(IOException.class);
    }

    // others in this JVM may open one now and then; each leaked process would hold four
    assertThat(descriptors()).isLessThan(before + 20);
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  @Test
  void theRunningIdentityIsOurOwn() {
    assertThat(ProcessIdentity.self().pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(ProcessIdentity.self().isRunning()).isTrue();
    assertThat(Processes.machineBootId()).hasSize(36);
  }

  private ManagedProcess shell(String script) throws IOException {
    return start(List.of("/bin/sh", "-c", script));
  }

  private ManagedProcess start(List<String> command) throws IOException {
    return processes.start(spec(command));
  }

  private ProcessSpec spec(List<String> command) {
    return new ProcessSpec(
        "test",
        command,
        directory,
        environment(),
        Optional.empty(),
        new Output.Captured(CAPTURE_BYTES),
        new Output.Captured(CAPTURE_BYTES));
  }

  private static Map<String, String> environment() {
    return Map.of("PATH", "/usr/local/bin:/usr/bin:/bin");
  }

  static int exitCode(ManagedProcess process) throws Exception {
    return process.onExit().get(30, TimeUnit.SECONDS);
  }
}
