package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Context overflow and invalidation, early and late, plain and streamed. */
class EngineVerdictTest {

  private static final Step STEP = Step.text("a longer answer in several events");
  private static final String OVERFLOW =
      "{\"error\":\"context_overflow\",\"message\":\"too much\","
          + "\"details\":{\"context_window\":4096,\"input_tokens\":5000}}";
  private static final String LATE_OVERFLOW =
      "{\"message\":\"too much\",\"details\":{\"context_window\":4096,\"input_tokens\":5000},"
          + "\"type\":\"dressage_proxy_error\",\"code\":\"context_overflow\",\"status_code\":413}";

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(STEP));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void earlyOverflowPassesAndIsTheTurnsVerdict(boolean stream) throws Exception {
    script(Fault.Instead.error(413, OVERFLOW));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = chat(stream);
      assertThat(answer.status()).isEqualTo(413);
      assertThat(answer.body()).isEqualTo(OVERFLOW);
      assertOverflow(turn);
    }
  }

  @Test
  void lateOverflowBecomesAnHttpStatus() throws Exception {
    rig.engine.script(
        EngineScript.always(
            STEP.withHeartbeats(3).with(Fault.InsertAfterEvents.errorFrame(0, LATE_OVERFLOW))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = chat(true);
      assertThat(answer.status()).isEqualTo(413);
      assertThat(answer.headers()).containsEntry("content-type", "application/json");
      assertThat(Json.object(answer.body())).isEqualTo(Json.object(LATE_OVERFLOW));
      assertOverflow(turn);
    }
  }

  @Test
  void overflowInTheMiddleOfAStreamIsAnErrorEvent() throws Exception {
    script(Fault.InsertAfterEvents.errorFrame(3, LATE_OVERFLOW));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = chat(true);
      assertThat(answer.ended()).isFalse();
      assertThat(answer.body()).contains("context_overflow");
      assertOverflow(turn);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"413", "400"})
  void whatOnlyLooksLikeOverflowIsAFailure(String status) throws Exception {
    script(
        Fault.Instead.error(
            Integer.parseInt(status),
            status.equals("413") ? "{\"error\":{\"code\":413}}" : OVERFLOW));
    try (TurnScope turn = rig.openTurn("t1")) {
      chat(false);
      assertThat(turn.verdict())
          .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.UpstreamFailed.class));
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("upstream_error");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "generation_preempted",
        "partial_rollout_staleness_exceeded",
        "trajectory_version_changed",
        "weight_version_mismatch",
        "weight_version_unavailable"
      })
  void invalidationEndsTheAgentQuietly(String error) throws Exception {
    script(
        Fault.Instead.error(
            502, "{\"detail\":{\"error\":\"" + error + "\",\"message\":\"new weights\"}}"));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer plain = chat(false);
      assertThat(plain.status()).isEqualTo(200);
      assertThat(plain.body())
          .isEqualTo(
              "{\"id\":\"chatcmpl-rollout-invalidated\",\"object\":\"chat.completion\","
                  + "\"created\":0,\"model\":\"proxy-model\",\"choices\":[{\"index\":0,"
                  + "\"message\":{\"role\":\"assistant\",\"content\":\"\"},"
                  + "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":0,"
                  + "\"completion_tokens\":0,\"total_tokens\":0}}");
      assertInvalidated(turn, error);
    }
  }

  @Test
  void invalidationOfAStreamIsAnEmptyStream() throws Exception {
    script(Fault.Instead.error(502, "{\"error\":{\"code\":\"generation_preempted\"}}"));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = chat(true);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.headers().get("content-type")).startsWith("text/event-stream");
      assertThat(answer.ended()).isTrue();
      assertThat(answer.body())
          .startsWith("data: {\"id\":\"chatcmpl-rollout-invalidated\"")
          .contains("\"finish_reason\":\"stop\"")
          .endsWith("data: [DONE]\n\n");
      assertThat(turn.verdict())
          .hasValue(
              new Verdict.RolloutInvalidated(
                  "generation_preempted", "Dressage rollout was invalidated."));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void lateInvalidationEndsTheStreamQuietly(int afterEvents) throws Exception {
    script(
        Fault.InsertAfterEvents.errorFrame(
            afterEvents,
            "{\"message\":\"new weights\",\"type\":\"dressage_proxy_error\","
                + "\"code\":\"trajectory_version_changed\",\"status_code\":502}"));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = chat(true);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.ended()).isTrue();
      assertThat(answer.body())
          .doesNotContain("new weights")
          .contains("\"finish_reason\":\"stop\"")
          .endsWith("data: [DONE]\n\n");
      assertInvalidated(turn, "trajectory_version_changed");
    }
  }

  @Test
  void invalidationWithinAToolCallDoesNotLetTheAgentRunIt() throws Exception {
    rig.engine.script(
        EngineScript.always(
            Step.toolCall("bash", "{\"command\":\"rm -rf build\"}")
                .with(
                    Fault.InsertAfterEvents.errorFrame(
                        3, "{\"code\":\"generation_preempted\",\"status_code\":502}"))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = chat(true);
      assertThat(answer.ended()).isTrue();
      assertThat(answer.body())
          .contains("\"finish_reason\":\"stop\"")
          .doesNotContain("tool_calls", "rm ");
      assertThat(turn.verdict())
          .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.RolloutInvalidated.class));
    }
  }

  @Test
  void overflowIsGraverThanWhatComesAfter() throws Exception {
    rig.engine.script(EngineScript.always(STEP.with(Fault.Instead.error(413, OVERFLOW), 1)));
    try (TurnScope turn = rig.openTurn("t1")) {
      chat(false);
      assertThat(chat(false).status()).isEqualTo(200);
      script(Fault.Instead.error(500, "{}"));
      assertThat(chat(false).status()).isEqualTo(500);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      assertThat(turn.verdict())
          .hasValueSatisfying(v -> assertThat(v).isInstanceOf(Verdict.ContextOverflow.class));
    }
  }

  private void script(Fault fault) {
    rig.engine.script(EngineScript.always(STEP.with(fault)));
  }

  private TestAgent.Answer chat(boolean stream) throws Exception {
    return rig.chat(stream ? ProxyRig.streamBody("a") : ProxyRig.plainBody("a"));
  }

  private void assertOverflow(TurnScope turn) {
    assertThat(turn.verdict())
        .hasValue(
            new Verdict.ContextOverflow(
                "too much", Map.of("context_window", 4096, "input_tokens", 5000)));
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("context_overflow");
  }

  private void assertInvalidated(TurnScope turn, String error) {
    assertThat(turn.verdict()).hasValue(new Verdict.RolloutInvalidated(error, "new weights"));
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("rollout_invalidated");
  }
}
