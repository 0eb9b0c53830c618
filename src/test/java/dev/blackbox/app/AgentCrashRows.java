package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.AgentStage.Sleeping;
import dev.blackbox.app.AgentStage.Turn;
import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.Step;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Rows of the matrix in which somebody ends a turn in the middle of {@code sleep 300}. */
final class AgentCrashRows {

  /** Everything is gone within this, on a machine that has time for it. */
  private static final Duration GONE_WITHIN = Duration.ofSeconds(5);

  /** Processes that wait for each processor, above which all takes in proportion longer. */
  private static final double LOAD_OF_A_BUSY_MACHINE = 2;

  private final AgentStage stage;

  AgentCrashRows(AgentStage stage) {
    this.stage = stage;
  }

  String cancel() throws Exception {
    stage.ready(Map.of());
    Sleeping sleeping = stage.sleep();
    int asked = stage.engine.chatRequests().size();
    long start = System.nanoTime();
    stage.client().post(stage.path("/turns/" + sleeping.id() + "/cancel"), Map.of());
    Answer settled = stage.client().get(stage.path("/turns/" + sleeping.id() + "?wait=30"));
    assertThat(settled.field("status")).as(settled.text()).isEqualTo("cancelled");
    assertThat(sleeping.processes()).isEmpty();
    assertThat(stage.startedSince()).isEmpty();
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertThat(took).isLessThan(goneWithin());
    assertThat(stage.engine.chatRequests()).as("calls after the cancel").hasSize(asked);
    Turn next = stage.answered("Are you still there?", Step.text("I am."));
    assertThat(next.answer().text()).contains("I am.");
    return "all gone after "
        + AgentStage.seconds(took)
        + "; the next turn of the session: "
        + next.seconds();
  }

  String registrationAfterCancel() throws Exception {
    stage.ready(Map.of());
    Sleeping sleeping = stage.sleep();
    List<ProcessHandle> ofTheCancelled = stage.server().descendants();
    stage.client().post(stage.path("/turns/" + sleeping.id() + "/cancel"), Map.of());
    long start = System.nanoTime();
    stage.bind(Map.of());
    String took = AgentStage.seconds(Duration.ofNanos(System.nanoTime() - start));
    assertThat(ofTheCancelled).noneMatch(KillPointsTest::runs);
    assertThat(stage.workspace().resolve("made.txt")).doesNotExist();
    Turn clean = stage.answered("Hello?", Step.text("Hello."));
    assertThat(clean.calls()).hasSize(1);
    assertThat(clean.calls().getFirst().bodyText())
        .contains("Hello?")
        .doesNotContain("Please wait", "make the file");
    return "clean: no process, file or message of the session before; registered in " + took;
  }

  String agentKilled() throws Exception {
    stage.ready(Map.of());
    Sleeping sleeping = stage.sleep();
    long start = System.nanoTime();
    ProcessHandle agent = ProcessHandle.of(agentPid()).orElseThrow();
    assertThat(agent.destroyForcibly()).isTrue();
    Answer settled = stage.client().get(stage.path("/turns/" + sleeping.id() + "?wait=60"));
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertThat(settled.field("status")).as(settled.text()).isEqualTo("unknown");
    assertThat(settled.text()).contains("backend_error");
    assertThat(settled.field("state")).isEqualTo("desynced");
    await().atMost(goneWithin()).until(() -> sleeping.processes().isEmpty());
    stage.bind(Map.of());
    Turn next = stage.answered("Are you well?", Step.text("I am."));
    return "turn `unknown` with `backend_error` after "
        + AgentStage.seconds(took)
        + ", nothing left; after another registration a turn: "
        + next.seconds();
  }

  /** At a load of 50 on two processors nobody ends twenty processes in five seconds. */
  private static Duration goneWithin() {
    OperatingSystemMXBean machine = ManagementFactory.getOperatingSystemMXBean();
    double busy =
        machine.getSystemLoadAverage() / machine.getAvailableProcessors() / LOAD_OF_A_BUSY_MACHINE;
    return Duration.ofMillis(Math.round(GONE_WITHIN.toMillis() * Math.max(1, busy)));
  }

  private long agentPid() throws Exception {
    return Long.parseLong(
        Files.readString(stage.directory().resolve("run/" + stage.agent.type() + ".pid")).strip());
  }

  String serverKilled() throws Exception {
    stage.ready(Map.of());
    Sleeping sleeping = stage.sleep();
    List<ProcessHandle> left = stage.server().descendants();
    int asked = stage.engine.chatRequests().size();
    stage.server().kill();
    stage.start();
    assertThat(left)
        .as("processes of the boot before, at readiness (P7)")
        .noneMatch(KillPointsTest::runs);
    assertThat(sleeping.processes()).isEmpty();
    Answer turn = stage.client().get(stage.path("/turns/" + sleeping.id()));
    assertThat(turn.field("status")).as("P6").isEqualTo("unknown");
    Answer again = stage.client().post(stage.path("/messages"), synchronous(sleeping));
    assertThat(again.status()).as(again.text()).isEqualTo(502);
    assertThat(stage.client().post(stage.path("/messages"), synchronous(sleeping)).body())
        .as("replays are equal (P3)")
        .containsEntry("error", again.body().get("error"))
        .containsEntry("details", again.body().get("details"));
    stage.awaitBinding();
    assertThat(stage.turn("More?").answer().status()).as("P6").isEqualTo(409);
    assertThat(stage.engine.chatRequests()).as("calls after the kill (P2)").hasSize(asked);
    stage.bind(Map.of());
    Turn next = stage.answered("And now?", Step.text("Now, yes."));
    return "turn `unknown`, replayed and not run again, nothing left; after another registration a"
        + " turn: "
        + next.seconds();
  }

  private static Map<String, Object> synchronous(Sleeping sleeping) {
    Map<String, Object> body = new HashMap<>(sleeping.body());
    body.put("mode", "sync");
    return body;
  }
}
