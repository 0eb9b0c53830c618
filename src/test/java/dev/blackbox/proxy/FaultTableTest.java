package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * P9 as one table: each fault of an engine in each dialect, plain and streamed; what the agent is
 * told, what the call's record says, and what the turn says. The engine never gets well.
 */
class FaultTableTest {

  private static final Duration LONG = FaultTable.LONG;
  private static final Duration SHORT = Duration.ofMillis(300);

  private static ProxyRig patient;

  /** For faults that only its patience ends; for others it might be too short on a busy machine. */
  private static ProxyRig impatient;

  @BeforeAll
  static void start() {
    patient = rig(LONG);
    impatient = rig(SHORT);
  }

  @AfterAll
  static void end() {
    patient.close();
    impatient.close();
  }

  private static ProxyRig rig(Duration patience) {
    ProxyConfig usual = ProxyRig.CONFIG;
    ProxyConfig config =
        new ProxyConfig(
            0,
            usual.bodyBytesMax(),
            usual.responseBytesMax(),
            usual.concurrentCallsMax(),
            usual.connectTimeout(),
            patience,
            patience,
            LONG,
            new ProxyConfig.KeepAlive(LONG, LONG),
            new ProxyConfig.Retries(2, Duration.ofMillis(1), Duration.ofSeconds(1)),
            ProxyConfig.AgentRetries.DEFAULTS);
    return new ProxyRig(config, EngineScript.always(FaultTable.TEXT));
  }

  @TestFactory
  Stream<DynamicTest> p9EachFaultIsSaidToAllSides() {
    return FaultTable.rows()
        .flatMap(
            row ->
                Arrays.stream(Tongue.values())
                    .map(
                        tongue ->
                            DynamicTest.dynamicTest(
                                row.name() + ", " + row.told() + ", " + tongue,
                                () -> check(row, tongue))));
  }

  private static void check(FaultTable.Row row, Tongue tongue) throws Exception {
    ProxyRig rig = row.isSlow() ? impatient : patient;
    int records = rig.sink.ended().size();
    int asked = rig.engine.chatRequests().size();
    rig.engine.script(EngineScript.always(FaultTable.step(row)));
    try (TurnScope turn = rig.openTurn("t" + records)) {
      FaultTable.checkAnswer(row, tongue, tongue.ask(rig, tongue.body(row.stream())));
      assertThat(turn.drain(LONG)).isTrue();
      assertThat(rig.sink.ended()).hasSize(records + 1);
      checkRecord(rig.sink.ended().getLast(), row.record());
      assertThat(rig.engine.chatRequests()).hasSize(asked + 1 + row.retries());
      assertThat(turn.verdict().orElseThrow())
          .isInstanceOfSatisfying(
              Verdict.UpstreamFailed.class,
              failed -> FaultTable.checkNumber(failed.status(), row.turn()));
      assertThat(turn.totals().steps()).isEqualTo(1);
    }
  }

  private static void checkRecord(CallSink.CallEnded record, List<String> expected) {
    FaultTable.checkNumber(record.status(), expected.get(0));
    assertThat(record.verdict()).isEqualTo(expected.get(1));
    assertThat(record.retries()).isEqualTo(Integer.parseInt(expected.get(2)));
    assertThat(record.error()).isPresent();
  }

  /** A call is only let out whole. */
  @ParameterizedTest
  @EnumSource
  void p9ABrokenToolCallIsNotLetOut(Tongue tongue) throws Exception {
    Step speaks =
        Step.of(new Part.Text("a longer answer"), new Part.ToolCall("dangerous", "{\"x\": "));
    for (boolean stream : new boolean[] {false, true}) {
      try (ProxyRig rig = new ProxyRig(EngineScript.always(speaks));
          TurnScope turn = rig.openTurn("t1")) {
        TestAgent.Answer answer = tongue.ask(rig, tongue.body(stream));
        if (stream) {
          FaultTable.checkBrokenOff(answer, tongue);
        } else {
          FaultTable.checkRefused(answer, tongue, "502");
        }
        assertThat(answer.body())
            .doesNotContain("tool_use", "function_call", "\"tool_calls\"", "dangerous");
        assertThat(turn.drain(LONG)).isTrue();
        checkRecord(rig.sink.onlyEnd(), List.of("200", "upstream_error", "0"));
        assertThat(turn.verdict()).containsInstanceOf(Verdict.UpstreamFailed.class);
      }
    }
  }

  @Test
  void everyFaultIsInTheTable() {
    assertThat(FaultTable.rows().map(FaultTable.Row::name)).containsAll(FaultTable.FAULTS.keySet());
  }
}
