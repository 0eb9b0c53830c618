package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.AgentStage.Turn;
import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.turn.TurnKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Rows of the matrix about turns that go well. */
final class AgentTurnRows {

  private static final int MANY = 20;

  /** More in 20 turns is a leak. */
  private static final int HANDLES_MORE_MAX = 20;

  private static final int DISK_KILOBYTES_PER_TURN_MAX = 2_048;

  private final AgentStage stage;

  AgentTurnRows(AgentStage stage) {
    this.stage = stage;
  }

  String context() throws Exception {
    stage.ready(Map.of());
    Turn made =
        stage.answered(
            "Please make the file.",
            stage.agent.shell("echo first > made.txt"),
            Step.text("The file is made."));
    assertThat(stage.workspace().resolve("made.txt")).hasContent("first\n");
    assertThat(made.answer().body().get("usage"))
        .extracting("steps", "tool_calls")
        .containsExactly(2, 1);
    Turn changed =
        stage.answered(
            "Now change the file.",
            stage.agent.shell("echo second >> made.txt && cp made.txt both.txt"),
            Step.text("The file is changed."));
    assertThat(stage.workspace().resolve("both.txt")).hasContent("first\nsecond\n");
    stage.server().kill();
    long start = System.nanoTime();
    stage.start();
    stage.awaitBinding();
    double back = (System.nanoTime() - start) / 1e9;
    int asked = stage.engine.chatRequests().size();
    Answer replay =
        stage
            .client()
            .post(
                stage.path("/messages"),
                Map.of(
                    "turn_id",
                    made.id(),
                    "messages",
                    List.of(
                        Map.of(
                            "role",
                            "user",
                            "content",
                            "Please make the file. (" + made.session() + "/" + made.id() + ")"))));
    assertThat(replay.field("idempotent_replay")).isEqualTo("true");
    assertThat(replay.body().get("outputs")).isEqualTo(made.answer().body().get("outputs"));
    assertThat(stage.engine.chatRequests()).hasSize(asked);
    Turn third = stage.answered("What did you do?", Step.text("I remember."));
    assertThat(third.answer().text()).contains("I remember.");
    assertThat(third.calls().getLast().bodyText())
        .as("the third turn knows both before it, after the kill")
        .contains("make the file", "The file is made.", "change the file", "The file is changed.");
    return "third turn knows both; turns %s, %s, %s; ready %.1f s after the kill"
        .formatted(made.seconds(), changed.seconds(), third.seconds(), back);
  }

  String twenty() throws Exception {
    stage.ready(Map.of());
    List<Long> milliseconds = new ArrayList<>(List.of(count(1)));
    AgentGrowth first = AgentGrowth.now(stage);
    for (int i = 2; i <= MANY; i++) {
      milliseconds.add(count(i));
    }
    assertThat(stage.workspace().resolve("count.txt")).content().hasLineCount(MANY);
    AgentGrowth last = AgentGrowth.now(stage);
    assertThat(last.processes()).isLessThanOrEqualTo(first.processes());
    assertThat(last.handles()).isLessThan(first.handles() + HANDLES_MORE_MAX);
    assertThat(last.diskKilobytes())
        .isLessThan(first.diskKilobytes() + (long) MANY * DISK_KILOBYTES_PER_TURN_MAX);
    return first.to(last)
        + "; a turn %.1f s in the median"
            .formatted(
                milliseconds.stream().sorted().skip(MANY / 2).findFirst().orElseThrow() / 1e3);
  }

  /** In milliseconds. */
  private long count(int number) throws InterruptedException {
    return stage
        .answered(
            "Count to " + number,
            stage.agent.shell("echo " + number + " >> count.txt"),
            Step.text("Counted."))
        .took()
        .toMillis();
  }

  /** Ends the server, which holds the ledger: what it recorded is what the engine sent. */
  String records() throws Exception {
    stage.server().terminate();
    assertThat(stage.server().awaitEnd(AgentStage.LIMIT)).isZero();
    long prompt = 0;
    long completion = 0;
    Map<String, Integer> verdicts = new TreeMap<>();
    try (LedgerInspection ledger = LedgerInspection.open(LedgerConfig.at(stage.state()))) {
      for (Turn turn : stage.turns()) {
        long key = ledger.reads().session(new SessionId(turn.session())).orElseThrow().key();
        for (LedgerFacts.CallRecord call :
            ledger.reads().calls(new TurnKey(key, new TurnId(turn.id())))) {
          assertThat(call.start().dialect()).isEqualTo(stage.agent.dialect());
          assertThat(call.start().stream()).isTrue();
          LedgerFacts.CallEnded end = call.end().orElseThrow();
          prompt += end.promptTokens().orElse(0);
          completion += end.completionTokens().orElse(0);
          verdicts.merge(end.verdict(), 1, Integer::sum);
        }
      }
      assertThat(ledger.reads().verify().problems()).isEmpty();
    }
    assertThat(List.of(prompt, completion))
        .as("tokens in the ledger and tokens that the engine sent")
        .containsExactly(
            stage.engine.usageReported().promptTokens(),
            stage.engine.usageReported().completionTokens());
    assertThat(stage.engine.chatRequests())
        .allSatisfy(call -> assertThat(call.header("x-turn-id")).isPresent());
    return ("%d turns, %d requests to the engine, all with the name of their turn;"
            + " %d + %d tokens, as sent; calls %s")
        .formatted(
            stage.turns().size(), stage.engine.chatRequests().size(), prompt, completion, verdicts);
  }
}
