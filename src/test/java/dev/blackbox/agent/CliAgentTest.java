package dev.blackbox.agent;

import static dev.blackbox.agent.AgentFixture.assertBroken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What CLI agents share: processes, their ends and their output. */
class CliAgentTest {

  private static final CliLimits LIMITS =
      new CliLimits(200_000, 1_000_000, Duration.ofMillis(300), Duration.ofSeconds(5));

  @TempDir Path directory;
  @TempDir Path programs;

  private AgentFixture fixture;
  private StandIn standIn;

  @BeforeEach
  void open() throws IOException {
    fixture = new AgentFixture(directory);
    standIn = new StandIn(programs, "1.0");
    for (String name : List.of("logs", "run", "tmp", "home", "workspace")) {
      RuntimeFiles.directory(directory.resolve(name));
    }
  }

  @AfterEach
  void nothingIsLeft() {
    fixture.close();
  }

  /** Calls everything an answer: its lines, and how the run ended. */
  private static final class Lines implements CliTurn {
    private final List<String> lines = new ArrayList<>();

    @Override
    public List<String> arguments() {
      return List.of("--do", "it");
    }

    @Override
    public void line(byte[] line) throws CliOutputException {
      String text = new String(line, StandardCharsets.UTF_8);
      if (text.equals("refuse")) {
        throw CliOutputException.protocol("said something that is refused");
      }
      lines.add(text.length() > 100 ? text.length() + " characters" : text);
    }

    @Override
    public void note(String remark) {
      lines.add("note: " + remark);
    }

    @Override
    public boolean isComplete() {
      return lines.contains("final");
    }

    @Override
    public Optional<CliTurn> again(CliExit exit) {
      return exit.code() == 99 ? Optional.of(this) : Optional.empty();
    }

    @Override
    public AgentResult judge(CliExit exit) {
      lines.add(
          "exit " + exit.code() + ", errors " + exit.errors() + ", ended by us " + exit.ended());
      return new AgentResult.Answered(work());
    }

    @Override
    public Work work() {
      return new Work(String.join("|", lines), "[]", Usage.NONE, "");
    }
  }

  private Agent agent() {
    CliDialect dialect =
        new CliDialect() {
          @Override
          public String type() {
            return "lines";
          }

          @Override
          public Path program() {
            return standIn.program();
          }

          @Override
          public String programVariable() {
            return "LINES_BIN";
          }

          @Override
          public Path directory() {
            return directory.resolve("workspace");
          }

          @Override
          public void prepare() {
            // the test has made what is needed
          }

          @Override
          public Map<String, String> environment(Secret modelKey) {
            return Map.of("PATH", StandIn.PATH, "MODEL_KEY", modelKey.reveal());
          }

          @Override
          public CliTurn begin(AgentTask task) {
            return new Lines();
          }
        };
    return new CliAgent(
        fixture.slot(URI.create("http://127.0.0.1:9/v1"), Optional.empty(), Optional.empty()),
        dialect,
        LIMITS);
  }

  private String run(Agent agent) {
    AgentResult result = agent.run(fixture.task("t1", "go"));
    assertThat(result).isInstanceOf(AgentResult.Answered.class);
    return result.work().outputsJson();
  }

  @Test
  void thePromptIsTheInputAndTheOutputIsReadByLines() throws Exception {
    standIn.does("printf 'one\\n\\ntwo\\r\\nhalf'; echo oops >&2; exit 3");
    String prompt = "--help «me»\n".repeat(60_000); // longer than an argument may be
    try (Agent agent = agent()) {
      AgentResult result = agent.run(fixture.task("t1", prompt));

      assertThat(result.work().outputsJson())
          .isEqualTo("one||two\r|half|exit 3, errors oops, ended by us false");
      assertThat(standIn.input(1)).isEqualTo(prompt);
      assertThat(standIn.arguments(1)).containsExactly("--do", "it");
      assertThat(standIn.workedIn(1)).isEqualTo(directory.resolve("workspace"));
      assertThat(directory.resolve("run/prompt.txt")).doesNotExist();
      assertThat(directory.resolve("run/lines.pid")).exists();
    }
  }

  @Test
  void aRunHasTheKeyOfItsTurn() throws Exception {
    standIn.does("printf '%s\\n' \"$MODEL_KEY\"");
    try (Agent agent = agent()) {
      AgentTask task =
          new AgentTask(
              TurnId.parse("t1"), "go", _ -> {}, 0, Optional.of(Secret.of("key of the turn")));
      assertThat(agent.run(task).work().outputsJson()).startsWith("key of the turn|exit 0");
    }
  }

  @Test
  void errorsOfEarlierTurnsAreNotTold() throws Exception {
    standIn.does(1, "echo first >&2").does(2, "echo second >&2").does(3, "true");
    try (Agent agent = agent()) {
      assertThat(run(agent)).contains("errors first,");
      assertThat(run(agent)).contains("errors second,");
      assertThat(run(agent)).contains("errors ,");
      assertThat(directory.resolve("logs/lines.stderr.log")).hasContent("first\nsecond");
    }
  }

  @Test
  void whatTheRunLeavesBehindNeitherBlocksNorStays() throws Exception {
    // one keeps the output open, the other leaves session and parent
    standIn.does(
        "sleep 300 & setsid sh -c 'echo $$ > pid.part; mv pid.part pid; exec sleep 300' &"
            + " while [ ! -f pid ]; do sleep 0.05; done; echo done");
    try (Agent agent = agent()) {
      assertThat(run(agent)).startsWith("done|exit 0");
      assertThat(childOfTheRun().isRunning()).isFalse();
    }
  }

  @Test
  void aRunThatDoesNotExitAfterItsFinalEventIsEnded() throws Exception {
    standIn.does("trap '' INT TERM; echo final; while :; do sleep 1; done");
    try (Agent agent = agent()) {
      assertThat(run(agent))
          .startsWith("final|note: it did not exit within 300 ms after its final event")
          .endsWith("ended by us true");
    }
  }

  @Test
  void aLineBeyondTheBoundEndsTheRun() throws Exception {
    standIn
        .does(1, "head -c 199999 /dev/zero | tr '\\0' x; echo; echo ok")
        .does(
            2,
            "echo before; echo cause >&2; head -c 200001 /dev/zero | tr '\\0' x; exec sleep 300");
    try (Agent agent = agent()) {
      assertThat(run(agent)).startsWith("199999 characters|ok");
      AgentResult result = agent.run(fixture.task("t2", "go"));

      assertBroken(
          result,
          Kind.TRANSPORT,
          "lines printed a line of more than 200000 bytes; stderr tail: cause");
      assertThat(result.work().outputsJson()).isEqualTo("before");
    }
  }

  @Test
  void moreOutputThanTheBoundEndsTheRun() throws Exception {
    standIn.does(1, "yes 'a line of thirty-two characters'").does(2, "yes error >&2");
    try (Agent agent = agent()) {
      assertBroken(
          agent.run(fixture.task("t1", "go")), Kind.TRANSPORT, "more than 1000000 bytes in one");
      assertBroken(
          agent.run(fixture.task("t2", "go")), Kind.TRANSPORT, "more than 1000000 bytes to stand");
    }
  }

  @Test
  void aLineThatIsRefusedEndsTheRun() throws Exception {
    standIn.does("echo refuse; exec sleep 300");
    try (Agent agent = agent()) {
      assertBroken(
          agent.run(fixture.task("t1", "go")), Kind.PROTOCOL, "lines said something that is");
    }
  }

  @Test
  void stoppingInterruptsTheAgentAndEndsTheRest() throws Exception {
    assumeThat(interruptsReachChildren()).as("SIGINT is not ignored from outside").isTrue();
    standIn.does(
        "trap 'echo interrupted; exit 0' INT; echo half;"
            + " setsid sh -c 'echo $$ > pid.part; mv pid.part pid; exec sleep 300' &"
            + " while :; do sleep 0.1; done");
    try (Agent agent = agent()) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "go")));
      ProcessIdentity child = childOfTheRun();

      assertThat(agent.stop(Duration.ofSeconds(20))).isEqualTo(StopReport.STOPPED);

      assertThat(child.isRunning()).isFalse();
      AgentResult result = turn.get(10, TimeUnit.SECONDS);
      assertThat(result).isInstanceOf(AgentResult.Stopped.class);
      assertThat(result.work().outputsJson()).isEqualTo("half|interrupted");
      assertThat(agent.stop(Duration.ofSeconds(1))).isEqualTo(StopReport.NOTHING);
    }
  }

  @Test
  void stoppingEndsAnAgentThatIgnoresIt() throws Exception {
    standIn.does("trap '' INT TERM; touch pid; while :; do sleep 1; done");
    try (Agent agent = agent()) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "go")));
      awaitFile(directory.resolve("workspace/pid"));

      assertThat(agent.stop(Duration.ofSeconds(2))).isEqualTo(StopReport.STOPPED);

      assertThat(turn.get(10, TimeUnit.SECONDS)).isInstanceOf(AgentResult.Stopped.class);
    }
  }

  @Test
  void closingEndsARunningTurnAndForbidsOthers() throws Exception {
    standIn.does("touch pid; exec sleep 300");
    Agent agent = agent();
    CompletableFuture<AgentResult> turn;
    try (agent) {
      turn = CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "go")));
      awaitFile(directory.resolve("workspace/pid"));
    }
    assertThat(turn.get(10, TimeUnit.SECONDS)).isInstanceOf(AgentResult.Stopped.class);
    assertThat(agent.run(fixture.task("t2", "go"))).isInstanceOf(AgentResult.Stopped.class);
    assertThat(standIn.runs()).isEqualTo(1);
  }

  @Test
  void anInterruptEndsTheRunAndIsKept() throws Exception {
    standIn.does("touch pid; exec sleep 300");
    try (Agent agent = agent()) {
      CompletableFuture<AgentResult> result = new CompletableFuture<>();
      CompletableFuture<Boolean> kept = new CompletableFuture<>();
      Thread thread =
          Thread.ofVirtual()
              .start(
                  () -> {
                    result.complete(agent.run(fixture.task("t1", "go")));
                    kept.complete(Thread.currentThread().isInterrupted());
                  });
      awaitFile(directory.resolve("workspace/pid"));
      thread.interrupt();

      assertBroken(result.get(10, TimeUnit.SECONDS), Kind.UNEXPECTED, "interrupted");
      assertThat(kept.get(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void anAgentThatRefusedIsRunOnceMore() throws Exception {
    standIn.does(1, "exit 99").does(2, "echo second");
    try (Agent agent = agent()) {
      assertThat(run(agent)).startsWith("second|exit 0");
      assertThat(standIn.runs()).isEqualTo(2);
      assertThat(standIn.input(2)).isEqualTo("go");
    }
  }

  @Test
  void whatCannotBeRunIsToldByKind() throws Exception {
    standIn.does("true");
    try (Agent agent = agent()) {
      assertThat(agent.healthy()).isTrue();
      assertBroken(
          agent.run(fixture.task("t1", "a\0b")),
          Kind.PROTOCOL,
          "lines cannot be given a prompt with a NUL character, at 1");
      Files.delete(directory.resolve("workspace"));
      assertBroken(agent.run(fixture.task("t2", "go")), Kind.TRANSPORT, "workspace does not exist");
      Files.createDirectory(directory.resolve("workspace"));
      Files.delete(standIn.program());
      assertBroken(agent.run(fixture.task("t3", "go")), Kind.PROCESS, "LINES_BIN");
      assertThat(agent.healthy()).isFalse();
      assertThat(standIn.runs()).isZero();
    }
  }

  @Test
  void oneTurnAtATime() throws Exception {
    standIn.does("touch pid; exec sleep 300");
    try (Agent agent = agent()) {
      CompletableFuture<AgentResult> turn =
          CompletableFuture.supplyAsync(() -> agent.run(fixture.task("t1", "go")));
      awaitFile(directory.resolve("workspace/pid"));

      assertThatThrownBy(() -> agent.run(fixture.task("t2", "go")))
          .isInstanceOf(IllegalStateException.class);
      agent.stop(Duration.ofSeconds(10));
      turn.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void aLargeLogIsPutAside() throws Exception {
    Path log = directory.resolve("logs/lines.stdout.log");
    standIn.does("echo hi");
    try (Agent agent = agent()) {
      for (String name : List.of("first", "second", "third")) {
        Files.writeString(log, (name + "\n").repeat(4 << 20));
        assertThat(run(agent)).startsWith("hi|");
        assertThat(log).hasContent("hi");
      }
      assertThat(firstLine("lines.stdout.log.1")).isEqualTo("third");
      assertThat(firstLine("lines.stdout.log.2")).isEqualTo("second");
      assertThat(directory.resolve("logs/lines.stdout.log.3")).doesNotExist();
    }
  }

  private String firstLine(String log) throws IOException {
    try (Stream<String> lines = Files.lines(directory.resolve("logs").resolve(log))) {
      return lines.findFirst().orElse("");
    }
  }

  private ProcessIdentity childOfTheRun() throws IOException {
    Path file = directory.resolve("workspace/pid");
    awaitFile(file);
    long pid = Long.parseLong(Files.readString(file).strip());
    return ProcessIdentity.of(pid).orElseGet(() -> new ProcessIdentity(pid, 0, ""));
  }

  private static void awaitFile(Path file) {
    await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(file));
  }

  /** A program that is started with SIGINT ignored, as by a shell's {@code &}, hands that on. */
  private static boolean interruptsReachChildren() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("SigIgn:")) {
        return (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) == 0;
      }
    }
    return false;
  }
}
