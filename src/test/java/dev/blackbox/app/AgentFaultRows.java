package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.AgentStage.Turn;
import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows of the matrix in which the engine fails, or the budget ends. */
final class AgentFaultRows {

  private static final Map<String, Object> FEW_STEPS = Map.of("proxy", Map.of("max_steps", 3));

  private static final int REASON_CHARACTERS_MAX = 160;

  private final AgentStage stage;

  AgentFaultRows(AgentStage stage) {
    this.stage = stage;
  }

  String errorOnce() throws Exception {
    return goesOnAfter(Fault.Instead.error(500, "{\"error\":{\"message\":\"out of luck\"}}"));
  }

  String busyOnce() throws Exception {
    return goesOnAfter(
        new Fault.Instead(
            429, "application/json", "{\"error\":{\"message\":\"busy\"}}", Optional.of("1")));
  }

  private String goesOnAfter(Fault fault) throws Exception {
    stage.ready(Map.of());
    Turn turn = stage.answered("Say it.", Step.text("Said it.").with(fault, 1));
    assertThat(turn.answer().text()).contains("Said it.");
    assertThat(turn.calls()).hasSize(2);
    assertThat(turn.answer().body().get("usage")).extracting("steps").isEqualTo(1);
    return "answered in " + turn.seconds() + ", one step";
  }

  /** A half tool call must not run, and the whole one only once. */
  String cutOnce() throws Exception {
    stage.ready(Map.of());
    Path file = stage.workspace().resolve("cut.txt");
    Turn turn =
        stage.turn(
            "Write the line.",
            stage
                .agent
                .shell("echo line >> cut.txt")
                .withChunkCharacters(8)
                .with(new Fault.CutAfterEvents(4, false), 1),
            Step.text("The line is written."));
    return ended(turn, file);
  }

  String stallOnce() throws Exception {
    stage.ready(Map.of());
    Path file = stage.workspace().resolve("stall.txt");
    Turn turn =
        stage.turn(
            "Write slowly.",
            stage
                .agent
                .shell("echo line >> stall.txt")
                .withChunkCharacters(8)
                .with(new Fault.Stall(4, Duration.ofMinutes(5)), 1),
            Step.text("The line is written."));
    assertThat(turn.took()).isGreaterThan(Duration.ofSeconds(AgentStage.STALL_SECONDS));
    return ended(turn, file);
  }

  /** Either it asks again, and the work is done once; or the turn fails, and nothing is done. */
  private static String ended(Turn turn, Path file) {
    Answer answer = turn.answer();
    if (answer.status() == 200) {
      assertThat(answer.text()).contains("The line is written.");
      assertThat(file).hasContent("line\n");
      return "answered in %s after %d requests".formatted(turn.seconds(), turn.calls().size());
    }
    assertThat(answer.status()).as(answer.text()).isEqualTo(502);
    assertThat(answer.field("error")).isEqualTo("backend_error");
    assertThat(file).doesNotExist();
    return failure(turn) + ", nothing of it was run: " + shortened(answer.field("message"));
  }

  private static String shortened(String text) {
    return text.substring(0, Math.min(text.length(), REASON_CHARACTERS_MAX));
  }

  String cutAlways() throws Exception {
    stage.bind(FEW_STEPS);
    Turn turn =
        stage.turn(
            "Speak.",
            Step.text("An answer in a few events.").with(new Fault.CutAfterEvents(3, false)));
    assertThat(turn.answer().status()).as(turn.answer().text()).isIn(502, 429);
    return failure(turn);
  }

  String overflow() throws Exception {
    stage.ready(Map.of());
    String window =
        "{\"error\":\"context_overflow\",\"message\":\"too much\",\"details\":"
            + "{\"context_window\":4096,\"input_tokens\":5000}}";
    Turn turn =
        stage.turn(
            "Read a lot.",
            stage.agent.shell("echo kept > harvest.txt"),
            Step.text("Never said.").with(Fault.Instead.error(413, window)));
    assertThat(turn.answer().status()).as(turn.answer().text()).isEqualTo(413);
    assertThat(turn.answer().text()).contains("\"context_window\":4096");
    return failure(turn) + "; " + harvest();
  }

  String stepBudget() throws Exception {
    stage.bind(FEW_STEPS);
    Turn turn = stage.turn("Work on.", stage.agent.shell("echo kept > harvest.txt"));
    assertThat(turn.answer().status()).as(turn.answer().text()).isEqualTo(429);
    assertThat(turn.answer().text()).contains("max_steps_exceeded");
    assertThat(turn.calls()).hasSize(3);
    String harvested = harvest();
    assertThat(stage.engine.chatRequests().getLast()).isSameAs(turn.calls().getLast());
    return failure(turn) + "; " + harvested + ", no model call after it";
  }

  private String harvest() throws InterruptedException {
    Answer harvest =
        stage.client().post(stage.path("/execute_cmd"), Map.of("cmd", "cat harvest.txt"));
    assertThat(harvest.status()).as(harvest.text()).isEqualTo(200);
    assertThat(harvest.field("stdout")).isEqualTo("kept\n");
    return "harvest works";
  }

  String preemption() throws Exception {
    stage.ready(Map.of());
    Turn turn =
        stage.turn(
            "Be preempted.",
            stage.agent.shell("echo begun > begun.txt"),
            Step.text("Never said.")
                .with(
                    Fault.Instead.error(
                        502,
                        "{\"detail\":{\"error\":\"generation_preempted\","
                            + "\"message\":\"weights\"}}")));
    assertThat(turn.answer().status()).as(turn.answer().text()).isEqualTo(502);
    assertThat(turn.answer().text()).contains("Dressage proxy generation_preempted: weights");
    assertThat(Files.readAllLines(stage.workspace().resolve("begun.txt")))
        .isEqualTo(List.of("begun"));
    assertThat(turn.calls()).hasSize(2);
    return failure(turn) + ", marker in the message";
  }

  private static String failure(Turn turn) {
    return "%d `%s` in %s after %d requests"
        .formatted(
            turn.answer().status(),
            turn.answer().field("error"),
            turn.seconds(),
            turn.calls().size());
  }
}
