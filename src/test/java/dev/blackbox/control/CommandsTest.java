package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.blackbox.control.Rollout.CommandSubmission;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnState;
import dev.blackbox.wire.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shell commands over a real ledger, with real processes. */
@Timeout(120)
class CommandsTest {

  /** The rig's bound of each stream. */
  private static final int KEPT_BYTES = 1 << 20;

  @TempDir Path root;

  private final FakeBackend backend = new FakeBackend();
  private ControlRig rig;

  @BeforeEach
  void open() throws LedgerRefusedException {
    rig = new ControlRig(root, backend).registered();
  }

  @AfterEach
  void close() {
    rig.close();
  }

  @Test
  void headAndTailOfHugeOutputAreKeptAndTheRestIsCounted() {
    Map<String, @Nullable Object> result =
        run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; echo e >&2");
    String stdout = String.valueOf(result.get("stdout"));
    assertThat(stdout).startsWith("first\n").endsWith("last\n").contains("bytes left out");
    int dropped = 6 + 3_000_000 + 1 + 5 - KEPT_BYTES;
    assertThat(result).containsEntry("stdout_dropped_bytes", dropped);
    assertThat(result).containsEntry("stderr", "e\n").doesNotContainKey("stderr_dropped_bytes");
  }

  @Test
  void outputIsCutBetweenCharacters() {
    String stdout =
        String.valueOf(run("printf x; yes '\u20ac\ud83d\ude00' | head -c 2000001").get("stdout"));
    assertThat(stdout.substring(0, stdout.length() - 4)).doesNotContain("\ufffd");
  }

  @ParameterizedTest
  @CsvSource({"exit 7,7", "kill -KILL $$,-9", "kill -TERM $$,-15"})
  void theReturnCodeIsTheShellsOrMinusItsSignal(String command, int code) {
    assertThat(run(command)).containsEntry("returncode", code).containsEntry("timed_out", false);
  }

  @Test
  void theEnvironmentIsAnAllowListAndTheInputIsEmpty() {
    String stdout = String.valueOf(run("cat; env; pwd").get("stdout"));
    List<String> names =
        stdout.lines().filter(line -> line.contains("=")).map(line -> line.split("=")[0]).toList();
    assertThat(names)
        .isSubsetOf(
            "PATH",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "TZ",
            "TERM",
            "USER",
            "LOGNAME",
            "SHELL",
            "HOME",
            "TMPDIR",
            "BBS_PROCESS_MARKER",
            "BBS_PROCESS_ID",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_");
    assertThat(stdout).contains("HOME=" + root.resolve("runtimes"));
  }

  @Test
  void theTimeLimitEndsTheWholeTree() throws Exception {
    Map<String, @Nullable Object> result =
        result(rig.command(Optional.empty(), "setsid sleep 300 & echo $!; sleep 300", 0.5));
    assertThat(result).containsEntry("timed_out", true).containsEntry("returncode", -15);
    assertGone(String.valueOf(result.get("stdout")).strip());
  }

  @Test
  void anAbortEndsTheRunningTreeAndWhatWaitsNeverRuns() throws Exception {
    CommandSnapshot running = begun("echo $$ > pid; sleep 300");
    CommandSnapshot waiting = rig.execute(Optional.of("w"), "touch ran", 60).command();
    rig.control.abort(ControlRig.SESSION);
    CommandSnapshot ended = rig.ended(running);
    assertThat(ended.state()).isEqualTo(CommandState.CANCELLED);
    assertThat(ended.error().orElseThrow().code()).isEqualTo(ErrorCode.ABORTED);
    assertThat(result(ended)).containsEntry("returncode", -15);
    assertGone(Files.readString(workspace("pid")).strip());
    CommandSnapshot never = rig.ended(waiting);
    assertThat(never.state()).isEqualTo(CommandState.CANCELLED);
    assertThat(never.resultJson()).isEmpty();
    assertThat(workspace("ran")).doesNotExist();
    refused(() -> rig.execute(Optional.of("x"), "true", 5), ErrorCode.CONFLICT);
  }

  @Test
  void p2OneIdIsOneRunWhateverIsRepeatedAndHoweverManyAskAtOnce() throws Exception {
    List<Future<CommandSnapshot>> answers = new ArrayList<>();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int client = 0; client < 16; client++) {
        answers.add(
            clients.submit(() -> rig.command(Optional.of("c-1"), "echo run >> runs; cat runs", 9)));
      }
    }
    for (Future<CommandSnapshot> answer : answers) {
      assertThat(answer.get()).isEqualTo(answers.getFirst().get());
    }
    assertThat(Files.readAllLines(workspace("runs"))).hasSize(1);
    refused(() -> rig.execute(Optional.of("c-1"), "echo other", 9), ErrorCode.CONFLICT);
    refused(
        () -> rig.execute(Optional.of("c-1"), "echo run >> runs; cat runs", 8), ErrorCode.CONFLICT);
    rig.control.abort(ControlRig.SESSION);
    CommandSubmission replay = rig.execute(Optional.of("c-1"), "echo run >> runs; cat runs", 9);
    assertThat(replay.replay()).isTrue();
    assertThat(replay.command()).isEqualTo(answers.getFirst().get());
  }

  @Test
  void p3ANextBootRepeatsTheStoredResultAndRunsNothing() throws Exception {
    CommandSnapshot first = rig.command(Optional.of("c-1"), "echo run >> runs", 9);
    Path runs = workspace("runs");
    rig = rig.reopened();
    CommandSubmission replay = rig.execute(Optional.of("c-1"), "echo run >> runs", 9);
    assertThat(replay.replay()).isTrue();
    assertThat(replay.command()).isEqualTo(first);
    assertThat(Files.readAllLines(runs)).hasSize(1);
  }

  @Test
  void cancelEndsWhatWaitsAtOnceAndWhatRunsWithItsTree() throws Exception {
    CommandSnapshot running = begun("echo $$ > pid; sleep 300");
    CommandSnapshot waiting = rig.execute(Optional.of("w"), "touch ran", 60).command();
    assertThat(rig.control.cancelCommand(ControlRig.SESSION, "w").command().state())
        .isEqualTo(CommandState.CANCELLED);
    CommandSnapshot ended = rig.control.cancelCommand(ControlRig.SESSION, id(running)).command();
    assertThat(ended.state()).isEqualTo(CommandState.CANCELLED);
    assertThat(ended.error().orElseThrow().code()).isEqualTo(ErrorCode.CANCELLED);
    assertGone(Files.readString(workspace("pid")).strip());
    assertThat(rig.ended(waiting).resultJson()).isEmpty();
    assertThat(rig.control.cancelCommand(ControlRig.SESSION, "w").command())
        .as("cancelled again")
        .isEqualTo(rig.ended(waiting));
    assertThat(workspace("ran")).as("what waited has run").doesNotExist();
  }

  @Test
  void nothingThatOnlyLooksWaitsForACommandAndATurnRunsAfterIt() throws Exception {
    begun("echo $$ > pid; while [ ! -e go ]; do sleep 0.05; done");
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      clients
          .submit(
              () -> {
                rig.control.status();
                rig.control.session(ControlRig.SESSION);
                rig.control.commands(ControlRig.SESSION, 0, 9);
                rig.submit("t1", "hello");
                rig.control.turn(ControlRig.SESSION, "t1");
              })
          .get(5, TimeUnit.SECONDS);
      assertThat(rig.control.turn(ControlRig.SESSION, "t1").turn().state())
          .isEqualTo(TurnState.QUEUED);
      refused(() -> rig.execute(Optional.empty(), "true", 5), ErrorCode.CONFLICT);
      Files.createFile(workspace("go"));
      assertThat(rig.settled("t1").turn().state()).isEqualTo(TurnState.COMMITTED);
    }
  }

  @Test
  void shutdownEndsCommandsAndSaysSo() throws Exception {
    CommandSnapshot running = begun("echo $$ > pid; sleep 300");
    String pid = Files.readString(workspace("pid")).strip();
    CommandSnapshot waiting = rig.execute(Optional.of("w"), "touch ran", 60).command();
    rig = rig.reopened();
    for (CommandSnapshot command : List.of(running, waiting)) {
      CommandSnapshot ended = rig.ended(command);
      assertThat(ended.state()).isEqualTo(CommandState.CANCELLED);
      assertThat(ended.error().orElseThrow().code()).isEqualTo(ErrorCode.SERVER_SHUTDOWN);
    }
    assertGone(pid);
  }

  @Test
  void aShellThatCannotBeStartedIsAFailureThatIsKept() throws Exception {
    assertThat(run("rm -r \"$TMPDIR\"; echo x > \"$TMPDIR\"")).containsEntry("returncode", 0);
    CommandSnapshot failed = rig.command(Optional.of("c"), "touch ran", 5);
    assertThat(failed.state()).isEqualTo(CommandState.FAILED);
    TurnError error = failed.error().orElseThrow();
    assertThat(error.code()).isEqualTo(ErrorCode.BACKEND_ERROR);
    assertThat(error.message()).contains("could not be started", "/tmp", "directory");
    // Kept: when the cause is gone, the same command still has the same end, and did not run.
    Map<String, @Nullable Object> binding =
        Json.object(rig.control.status().binding().orElseThrow().bindingJson());
    Files.delete(Path.of(String.valueOf(binding.get("runtime_dir")), "tmp"));
    CommandSubmission again = rig.execute(Optional.of("c"), "touch ran", 5);
    assertThat(again.replay()).isTrue();
    assertThat(again.command()).isEqualTo(failed);
    assertThat(workspace("ran")).doesNotExist();
    assertThat(run("true")).containsEntry("returncode", 0);
  }

  private Map<String, @Nullable Object> run(String command) {
    return result(rig.command(Optional.empty(), command, 60));
  }

  private static Map<String, @Nullable Object> result(CommandSnapshot command) {
    return Json.object(command.resultJson().orElseThrow());
  }

  /** Starts a command that makes the file {@code pid}, and returns when it is there. */
  private CommandSnapshot begun(String command) {
    CommandSnapshot begun = rig.execute(Optional.of("running"), command, 60).command();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> Files.exists(workspace("pid")) && Files.size(workspace("pid")) > 0);
    return begun;
  }

  private static String id(CommandSnapshot command) {
    return command.commandId().orElseThrow().value();
  }

  /** A file where commands run: without a workspace of its own, the runtime directory. */
  private Path workspace(String name) {
    Map<String, @Nullable Object> binding =
        Json.object(rig.control.status().binding().orElseThrow().bindingJson());
    Path runtime = Path.of(String.valueOf(binding.get("runtime_dir")));
    Path workspace = runtime.resolve("workspace");
    return (Files.isDirectory(workspace) ? workspace : runtime).resolve(name);
  }

  private static void assertGone(String pid) {
    await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () ->
                ProcessIdentity.of(Long.parseLong(pid))
                    .filter(ProcessIdentity::isRunning)
                    .isEmpty());
  }

  private static void refused(ThrowingCallable call, ErrorCode code) {
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(call)
        .satisfies(problem -> assertThat(problem.code()).isEqualTo(code));
  }
}
