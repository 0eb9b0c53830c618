package dev.blackbox.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.process.ProcessSpec.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trees of processes end whole, and bystanders stay. */
class ProcessTreeTest {

  /**
   * A child in the background, an orphan of a double fork, and one that has a session of its own;
   * each writes its pid to a file.
   */
  private static final String TREE =
      """
      note() { echo "$1" > "$2.part" && mv "$2.part" "$2"; }
      sleep 300 & note $! child.pid
      (sleep 300 & note $! orphan.pid) &
      setsid sh -c 'echo $$ > escaped.part; mv escaped.part escaped.pid; exec sleep 300' &
      note $$ leader.pid
      """;

  private static final List<String> NAMES = List.of("leader", "child", "orphan", "escaped");

  private final String marker = "test-" + UUID.randomUUID();
  private final Processes processes = Processes.create(marker, new RecordedProcesses());

  @TempDir Path directory;

  @AfterEach
  void nothingIsLeft() {
    assertThat(Processes.reap(List.of(), marker, Duration.ofSeconds(5)).left()).isEmpty();
  }

  @Test
  void endingATreeEndsAllOfIt() throws Exception {
    ManagedProcess process = start(TREE + "sleep 300");
    List<ProcessIdentity> tree = tree(NAMES);

    assertThat(process.end(Duration.ofSeconds(2))).isTrue();

    assertThat(tree).noneMatch(ProcessIdentity::isRunning);
    assertThat(process.others()).isEmpty();
    assertThat(process.end(Duration.ofSeconds(2))).isTrue();
  }

  @Test
  void sweepingEndsWhatTheLeaderLeftBehind() throws Exception {
    ManagedProcess process = start(TREE + "until test -e go; do sleep 0.05; done");
    List<ProcessIdentity> children = tree(List.of("child", "orphan", "escaped"));
    Files.createFile(directory.resolve("go"));
    assertThat(LinuxProcessesTest.exitCode(process)).isZero();
    assertThat(process.others()).containsAll(children);

    assertThat(process.sweep()).isTrue();

    assertThat(children).noneMatch(ProcessIdentity::isRunning);
  }

  @Test
  void sweepingSparesTheLivingLeaderAndWhoIsNamed() throws Exception {
    try (ManagedProcess process = start(TREE + "exec sleep 300")) {
      List<ProcessIdentity> tree = tree(NAMES);
      Set<ProcessIdentity> spared = Set.of(tree.get(1));

      assertThat(process.sweep(spared)).isTrue();

      assertThat(tree)
          .filteredOn(ProcessIdentity::isRunning)
          .containsExactlyElementsOf(tree.subList(0, 2));
      assertThat(process.sweep()).isTrue();
      assertThat(process.isAlive()).isTrue();
    }
  }

  @Test
  void whoIgnoresTermIsKilledAfterTheGrace() throws Exception {
    ManagedProcess process =
        start(
            "trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done) & touch up; while :; do"
                + " sleep 0.1; done");
    awaitFile("up");
    long before = System.nanoTime();

    assertThat(process.end(Duration.ofMillis(400))).isTrue();

    assertThat(Duration.ofNanos(System.nanoTime() - before))
        .isGreaterThanOrEqualTo(Duration.ofMillis(400));
    assertThat(process.exitCode()).hasValue(-9);
    assertThat(process.others()).isEmpty();
  }

  @Test
  void whoHandlesTermIsNotKilled() throws Exception {
    ManagedProcess process =
        start("trap 'echo bye > bye; exit 3' TERM; touch up; while :; do sleep 0.05; done");
    awaitFile("up");

    assertThat(process.end(Duration.ofSeconds(20))).isTrue();

    assertThat(process.exitCode()).hasValue(3);
    assertThat(directory.resolve("bye")).exists();
  }

  @Test
  void endingRightAfterTheStartLeavesNothing() throws Exception {
    for (int i = 0; i < 10; i++) {
      ManagedProcess process = start("sleep 300 & sleep 300");

      assertThat(process.end(Duration.ZERO)).isTrue();
      assertThat(process.exitCode()).hasValue(-9);
    }
  }

  @Test
  void anEndedTreeLeavesOtherTreesAlone() throws Exception {
    try (ManagedProcess other = start("touch other; sleep 300")) {
      awaitFile("other");
      ManagedProcess process = start(TREE + "sleep 300");
      tree(NAMES);

      assertThat(process.end(Duration.ofSeconds(1))).isTrue();

      assertThat(other.isAlive()).isTrue();
    }
  }

  @Test
  void p7ReapingEndsRecordedProcessesWithTheirGroups() throws Exception {
    ManagedProcess process = start(TREE + "sleep 300");
    List<ProcessIdentity> tree = tree(NAMES);

    ReapReport report =
        Processes.reap(List.of(process.identity()), "no such marker", Duration.ofSeconds(5));

    // the escaped one is a child of the leader still, and so found too
    assertThat(report.isComplete()).isTrue();
    assertThat(report.ended()).isGreaterThanOrEqualTo(NAMES.size());
    assertThat(tree).noneMatch(ProcessIdentity::isRunning);
  }

  @Test
  void p7ReapingEndsWhateverCarriesTheMarker() throws Exception {
    start(TREE + "exit 0");
    List<ProcessIdentity> children = tree(List.of("child", "orphan", "escaped"));

    ReapReport report = Processes.reap(List.of(), marker, Duration.ofSeconds(5));

    assertThat(report).isEqualTo(new ReapReport(3, Set.of()));
    assertThat(children).noneMatch(ProcessIdentity::isRunning);
  }

  @Test
  void p7ReapingLeavesBystandersAlone() throws Exception {
    Processes others = Processes.create(marker + "-of-another-server", new RecordedProcesses());
    try (ManagedProcess bystander = others.start(spec("touch up; sleep 300"))) {
      awaitFile("up");
      ProcessIdentity now = bystander.identity();
      List<ProcessIdentity> stale =
          List.of(
              new ProcessIdentity(now.pid(), now.startTicks() - 1, now.machineBootId()),
              new ProcessIdentity(now.pid(), now.startTicks(), "an-earlier-boot-of-the-machine"));

      ReapReport report = Processes.reap(stale, marker, Duration.ofSeconds(5));

      assertThat(report).isEqualTo(new ReapReport(0, Set.of()));
      assertThat(bystander.isAlive()).isTrue();
      assertThat(bystander.others()).isNotEmpty();
    }
  }

  private ManagedProcess start(String script) throws IOException {
    return processes.start(spec(script));
  }

  private ProcessSpec spec(String script) {
    return new ProcessSpec(
        "test",
        List.of("/bin/sh", "-c", script),
        directory,
        Map.of("PATH", "/usr/local/bin:/usr/bin:/bin"),
        Optional.empty(),
        new Output.Captured(10_000),
        new Output.Captured(10_000));
  }

  private void awaitFile(String name) {
    await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(directory.resolve(name)));
  }

  private List<ProcessIdentity> tree(List<String> names) throws IOException {
    List<ProcessIdentity> tree = new ArrayList<>();
    for (String name : names) {
      awaitFile(name + ".pid");
      long pid = Long.parseLong(Files.readString(directory.resolve(name + ".pid")).strip());
      tree.add(ProcessIdentity.of(pid).orElseThrow());
    }
    assertThat(new HashSet<>(tree)).hasSameSizeAs(names).allMatch(ProcessIdentity::isRunning);
    return tree;
  }
}
