package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.control.TurnOutcomes.StopCause;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.proxy.CallTotals;
import dev.blackbox.proxy.Verdict;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TurnOutcomesTest {

  private static final Work WORK = new Work("[1]", "[2]", new Usage(9, 5, 4, 0, 7, 3), "ses_1");
  private static final CallTotals NO_CALLS = new CallTotals(0, 0, 0, 0, 0);
  private static final CallTotals CALLS = new CallTotals(2, 100, 20, 6, 1);
  private static final Verdict OVERFLOW =
      new Verdict.ContextOverflow("too long", Map.of("context_window", 4096, "turn_id", "spoofed"));
  private static final Verdict STEPS = new Verdict.StepsExceeded(2, 2);
  private static final Verdict INVALIDATED =
      new Verdict.RolloutInvalidated("generation_preempted", "preempted");

  private final TurnOutcomes outcomes =
      new TurnOutcomes(
          new TurnSnapshot(
              new TurnKey(1, new TurnId("t1")),
              new SessionId("s1"),
              new InstanceId("i1"),
              "opencode",
              TurnState.INFLIGHT,
              "f",
              "[]",
              false,
              Optional.empty(),
              Instant.EPOCH,
              Instant.EPOCH,
              1,
              OptionalLong.of(1)));

  @Test
  void anAnswerIsCommittedWithTheTokensAndToolCallsThatTheProxySaw() {
    TurnOutcome outcome = outcomes.ended(new AgentResult.Answered(WORK), Optional.empty(), CALLS);
    assertThat(outcome).isInstanceOf(TurnOutcome.Committed.class);
    assertThat(outcome.work().usage()).isEqualTo(new Usage(120, 100, 20, 6, 2, 1));
    assertThat(outcome.work().outputsJson()).isEqualTo("[1]");
  }

  @Test
  void anAgentsOwnLimitOfStepsIsToldLikeTheProxys() {
    TurnOutcome outcome =
        outcomes.ended(
            new AgentResult.OutOfSteps(20, "reached max_turns", WORK), Optional.empty(), CALLS);
    TurnError error = error(outcome);
    assertThat(error.code()).isEqualTo(ErrorCode.MAX_STEPS_EXCEEDED);
    assertThat(error.message()).isEqualTo("Turn exceeded max_steps.");
    assertThat(error.details())
        .containsEntry("max_steps", 20L)
        .containsEntry("backend_message", "reached max_turns");
    assertThat(outcome.work().outputsJson()).isEqualTo("[1]");
  }

  @Test
  void theAgentsOwnNumbersStandWhereTheProxySawNone() {
    TurnOutcome outcome =
        outcomes.ended(new AgentResult.Answered(WORK), Optional.empty(), NO_CALLS);
    assertThat(outcome.work().usage()).isEqualTo(WORK.usage());
  }

  /**
   * An agent may call it a success, fail in its own words, or die: what its model said counts in
   * each case.
   */
  @Test
  void theProxysVerdictIsConsultedOnEveryPath() {
    List<AgentResult> ends =
        List.of(
            new AgentResult.Answered(WORK),
            new AgentResult.Broken(Kind.PROCESS, "died", WORK),
            new AgentResult.Broken(Kind.TRANSPORT, "500 internal error", WORK),
            new AgentResult.Broken(Kind.PROTOCOL, "no output", WORK),
            new AgentResult.Broken(Kind.UNEXPECTED, "bug", WORK));
    for (AgentResult end : ends) {
      assertThat(error(outcomes.ended(end, Optional.of(OVERFLOW), CALLS)).code())
          .isEqualTo(ErrorCode.CONTEXT_OVERFLOW);
      assertThat(error(outcomes.ended(end, Optional.of(STEPS), CALLS)).code())
          .isEqualTo(ErrorCode.MAX_STEPS_EXCEEDED);
      TurnError void_ = error(outcomes.ended(end, Optional.of(INVALIDATED), CALLS));
      assertThat(void_.code()).isEqualTo(ErrorCode.BACKEND_ERROR);
      assertThat(void_.message()).contains("Dressage proxy generation_preempted: preempted");
    }
  }

  @Test
  void detailsNameTheTurnAndCannotBeSpoofedByTheEngine() {
    TurnError error =
        error(outcomes.ended(new AgentResult.Answered(WORK), Optional.of(OVERFLOW), CALLS));
    assertThat(error.details())
        .containsEntry("session_id", "s1")
        .containsEntry("turn_id", "t1")
        .containsEntry("context_window", 4096)
        .containsEntry("raw_error_code", "context_overflow");
  }

  @Test
  void aFailedModelCallExplainsAFailedAgentButDoesNotSpoilAnAnswer() {
    Optional<Verdict> failed =
        Optional.of(new Verdict.UpstreamFailed(500, "Upstream returned HTTP 500"));
    assertThat(outcomes.ended(new AgentResult.Answered(WORK), failed, CALLS).state())
        .isEqualTo(TurnState.COMMITTED);
    assertThat(
            error(
                    outcomes.ended(
                        new AgentResult.Broken(Kind.TRANSPORT, "gave up", WORK), failed, CALLS))
                .message())
        .isEqualTo("Backend request failed: gave up; upstream error: Upstream returned HTTP 500");
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aBrokenAgentLeavesTheTurnUnknownAndItsWorkKept(Kind kind) {
    TurnOutcome outcome =
        outcomes.ended(new AgentResult.Broken(kind, "x", WORK), Optional.empty(), NO_CALLS);
    assertThat(outcome.state()).isEqualTo(TurnState.UNKNOWN);
    assertThat(outcome.work().outputsJson()).isEqualTo("[1]");
    assertThat(error(outcome).code())
        .isEqualTo(kind == Kind.UNEXPECTED ? ErrorCode.INTERNAL_ERROR : ErrorCode.BACKEND_ERROR);
  }

  @Test
  void cancelledIsSaidOnlyWhenTheAgentIsKnownToHaveStopped() {
    Optional<AgentResult> stopped = Optional.of(new AgentResult.Stopped(WORK));
    assertThat(stop(StopCause.CANCEL, StopReport.STOPPED, stopped).state())
        .isEqualTo(TurnState.CANCELLED);
    assertThat(stop(StopCause.CANCEL, StopReport.unproved("still there"), stopped).state())
        .isEqualTo(TurnState.UNKNOWN);
    assertThat(error(stop(StopCause.CANCEL, StopReport.unproved("still there"), stopped)).message())
        .contains("still there");
    assertThat(stop(StopCause.CANCEL, StopReport.STOPPED, Optional.empty()).state())
        .isEqualTo(TurnState.UNKNOWN);
  }

  @Test
  void anAnswerThatCameBeforeTheCancelStands() {
    assertThat(
            stop(StopCause.CANCEL, StopReport.NOTHING, Optional.of(new AgentResult.Answered(WORK)))
                .state())
        .isEqualTo(TurnState.COMMITTED);
  }

  @Test
  void everyOtherStopLeavesTheTurnUnknownWithItsReason() {
    Optional<AgentResult> stopped = Optional.of(new AgentResult.Stopped(WORK));
    Map<StopCause, ErrorCode> codes =
        Map.of(
            StopCause.ABORT, ErrorCode.ABORTED,
            StopCause.TIMEOUT, ErrorCode.BACKEND_TIMEOUT,
            StopCause.STEPS, ErrorCode.MAX_STEPS_EXCEEDED,
            StopCause.SHUTDOWN, ErrorCode.SERVER_SHUTDOWN);
    codes.forEach(
        (cause, code) -> {
          TurnOutcome outcome = stop(cause, StopReport.STOPPED, stopped);
          assertThat(outcome.state()).isEqualTo(TurnState.UNKNOWN);
          assertThat(error(outcome).code()).isEqualTo(code);
          assertThat(outcome.work().outputsJson()).isEqualTo("[1]");
        });
  }

  @Test
  void aTurnThatNeverStartedDesyncsNothingUnlessAborted() {
    assertThat(outcomes.notStarted(StopCause.CANCEL).state()).isEqualTo(TurnState.CANCELLED);
    assertThat(outcomes.notStarted(StopCause.SHUTDOWN).state()).isEqualTo(TurnState.FAILED);
    assertThat(outcomes.notStarted(StopCause.ABORT).state()).isEqualTo(TurnState.UNKNOWN);
    assertThat(outcomes.noAgent("gone").state()).isEqualTo(TurnState.FAILED);
  }

  private TurnOutcome stop(StopCause cause, StopReport report, Optional<AgentResult> result) {
    return outcomes.stopped(cause, report, result, Optional.empty(), NO_CALLS, 1.5);
  }

  private static TurnError error(TurnOutcome outcome) {
    return ((TurnOutcome.WithoutAnswer) outcome).error();
  }
}
