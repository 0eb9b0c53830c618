package dev.blackbox.control;

import dev.blackbox.agent.Agent.StopReport;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.proxy.CallTotals;
import dev.blackbox.proxy.Verdict;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides how a turn ended, from all that is known at its end. Pure. Source of codes and texts: the
 * reference server's error taxonomy (section 1.3) and rejection catalogue (section 9.2); parts of
 * two texts are parsed by clients (section 11).
 */
final class TurnOutcomes {

  /** Why a turn was made to end. */
  enum StopCause {
    CANCEL,
    ABORT,
    TIMEOUT,
    STEPS,
    SHUTDOWN
  }

  private final TurnSnapshot turn;

  TurnOutcomes(TurnSnapshot turn) {
    this.turn = turn;
  }

  /**
   * The agent ended by itself. The proxy's verdict is consulted on every path: an agent may hide
   * what its model said.
   */
  TurnOutcome ended(AgentResult result, Optional<Verdict> verdict, CallTotals totals) {
    Work work = withTotals(result.work(), totals);
    Optional<TurnError> said = verdict.flatMap(this::terminal);
    if (said.isPresent()) {
      return new TurnOutcome.Unknown(said.get(), work);
    }
    return switch (result) {
      case AgentResult.Answered _ -> new TurnOutcome.Committed(work);
      case AgentResult.Stopped _ ->
          new TurnOutcome.Unknown(
              backendError("the agent stopped although nobody asked for it"), work);
      case AgentResult.OutOfSteps steps -> new TurnOutcome.Unknown(outOfSteps(steps), work);
      case AgentResult.Broken broken -> new TurnOutcome.Unknown(broken(broken, verdict), work);
    };
  }

  /**
   * The agent was made to end.
   *
   * @param result what it returned, if it returned in time
   */
  TurnOutcome stopped(
      StopCause cause,
      StopReport report,
      Optional<AgentResult> result,
      Optional<Verdict> verdict,
      CallTotals totals,
      double timeoutSeconds) {
    Work work = withTotals(result.map(AgentResult::work).orElse(Work.NONE), totals);
    return switch (cause) {
      case CANCEL -> cancelled(report, result, work);
      case ABORT -> new TurnOutcome.Unknown(aborted(), work);
      case TIMEOUT -> new TurnOutcome.Unknown(timedOut(timeoutSeconds), work);
      case STEPS ->
          new TurnOutcome.Unknown(
              verdict.flatMap(this::terminal).orElseGet(this::stepsWithoutNumbers), work);
      case SHUTDOWN -> new TurnOutcome.Unknown(shutDown(), work);
    };
  }

  /** The turn never started. */
  TurnOutcome notStarted(StopCause cause) {
    return switch (cause) {
      case CANCEL ->
          new TurnOutcome.Cancelled(
              error(ErrorCode.CANCELLED, "Turn cancelled before it started.", Map.of()), Work.NONE);
      case ABORT -> new TurnOutcome.Unknown(aborted(), Work.NONE);
      case TIMEOUT, STEPS, SHUTDOWN -> new TurnOutcome.Failed(shutDown(), Work.NONE);
    };
  }

  /** The agent could not be had, and surely saw nothing. */
  TurnOutcome noAgent(String reason) {
    return new TurnOutcome.Failed(backendError(reason), Work.NONE);
  }

  /** A surprise in our own code. */
  TurnOutcome unexpected(Throwable bug) {
    return new TurnOutcome.Unknown(
        error(
            ErrorCode.INTERNAL_ERROR,
            "Unexpected backend failure ("
                + bug.getClass().getSimpleName()
                + "); the server's log has it.",
            Map.of()),
        Work.NONE);
  }

  private TurnOutcome cancelled(StopReport report, Optional<AgentResult> result, Work work) {
    if (!report.proved() || result.isEmpty()) {
      String why = report.reason().isEmpty() ? "it did not return in time" : report.reason();
      return new TurnOutcome.Unknown(
          backendError("Turn was cancelled, but the agent is not known to have stopped: " + why),
          work);
    }
    if (result.get() instanceof AgentResult.Answered) {
      return new TurnOutcome.Committed(work);
    }
    return new TurnOutcome.Cancelled(
        error(ErrorCode.CANCELLED, "Turn cancelled while in flight.", Map.of()), work);
  }

  private TurnError broken(AgentResult.Broken broken, Optional<Verdict> verdict) {
    String upstream =
        verdict
            .filter(Verdict.UpstreamFailed.class::isInstance)
            .map(Verdict.UpstreamFailed.class::cast)
            .map(failed -> "; upstream error: " + failed.message())
            .orElse("");
    return switch (broken.kind()) {
      case PROCESS, TRANSPORT, PROTOCOL -> backendError(broken.message() + upstream);
      case UNEXPECTED ->
          error(
              ErrorCode.INTERNAL_ERROR,
              "Unexpected backend failure: " + broken.message() + upstream,
              Map.of());
    };
  }

  private Optional<TurnError> terminal(Verdict verdict) {
    return switch (verdict) {
      case Verdict.StepsExceeded steps ->
          Optional.of(
              error(
                  ErrorCode.MAX_STEPS_EXCEEDED,
                  "Turn exceeded max_steps.",
                  Map.of(
                      "max_steps",
                      steps.stepsMax(),
                      "attempted_step",
                      steps.attemptedStep(),
                      "backend_message",
                      "429 Turn exceeded max_steps.",
                      "raw_error_code",
                      "rate_limit_error")));
      case Verdict.ContextOverflow overflow ->
          Optional.of(
              error(ErrorCode.CONTEXT_OVERFLOW, overflow.message(), overflowDetails(overflow)));
      case Verdict.RolloutInvalidated invalidated ->
          Optional.of(
              backendError("Dressage proxy " + invalidated.error() + ": " + invalidated.message()));
      case Verdict.UpstreamFailed _ -> Optional.empty();
    };
  }

  private static Map<String, @Nullable Object> overflowDetails(Verdict.ContextOverflow overflow) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>(overflow.details());
    details.remove("session_id");
    details.remove("turn_id");
    details.put("backend_message", overflow.message());
    details.put("raw_error_code", "context_overflow");
    return details;
  }

  private TurnError stepsWithoutNumbers() {
    return error(
        ErrorCode.MAX_STEPS_EXCEEDED,
        "Turn exceeded max_steps.",
        Map.of(
            "max_steps",
            0,
            "attempted_step",
            0,
            "backend_message",
            "429 Turn exceeded max_steps."));
  }

  private TurnError outOfSteps(AgentResult.OutOfSteps steps) {
    return error(
        ErrorCode.MAX_STEPS_EXCEEDED,
        "Turn exceeded max_steps.",
        Map.of(
            "max_steps",
            steps.stepsMax(),
            "attempted_step",
            steps.stepsMax(),
            "backend_message",
            steps.message()));
  }

  private TurnError aborted() {
    return error(ErrorCode.ABORTED, "Session was aborted while turn was in flight.", Map.of());
  }

  private TurnError timedOut(double timeoutSeconds) {
    return error(
        ErrorCode.BACKEND_TIMEOUT,
        "Turn exceeded backend_timeout of " + timeoutSeconds + " seconds (pauses not counted).",
        Map.of());
  }

  private TurnError shutDown() {
    return error(ErrorCode.SERVER_SHUTDOWN, "Server shut down while the turn was open.", Map.of());
  }

  private TurnError backendError(String message) {
    return error(ErrorCode.BACKEND_ERROR, "Backend request failed: " + message, Map.of());
  }

  private TurnError error(
      ErrorCode code, String message, Map<String, ? extends @Nullable Object> more) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    details.put("session_id", turn.sessionId().value());
    details.put("turn_id", turn.key().turnId().value());
    details.putAll(more);
    return new TurnError(code, message, details);
  }

  /**
   * Steps, tool calls and tokens come from the proxy, which saw every call; the agent's own count
   * stands where the proxy saw none.
   */
  private static Work withTotals(Work work, CallTotals totals) {
    Usage own = work.usage();
    boolean called = totals.steps() > 0;
    boolean counted = totals.promptTokens() + totals.completionTokens() > 0;
    long input = counted ? totals.promptTokens() : own.inputTokens();
    long output = counted ? totals.completionTokens() : own.outputTokens();
    Usage usage =
        new Usage(
            counted ? input + output : own.totalTokens(),
            input,
            output,
            counted ? totals.reasoningTokens() : own.reasoningTokens(),
            called ? totals.steps() : own.steps(),
            called ? totals.toolCalls() : Math.max(own.toolCalls(), 0));
    return new Work(work.outputsJson(), work.traceJson(), usage, work.backendSessionId());
  }
}
