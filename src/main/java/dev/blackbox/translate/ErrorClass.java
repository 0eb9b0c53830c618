package dev.blackbox.translate;

/** What kind of failure an agent is told of; each is told so that the agent does what it should. */
public enum ErrorClass {
  /** The prompt fills the window: the agent should compact. */
  CONTEXT_OVERFLOW,
  /** The prompt fits, but not together with the answer that was asked for. */
  OUTPUT_TOO_LONG,
  /** The rollout is void: the agent should stop. */
  INVALIDATED,
  /** A key is wrong, the agent's or the engine's: the agent should stop. */
  AUTHENTICATION,
  /** Too many requests: later again. */
  RATE_LIMIT,
  /** The engine is busy or not there for now: later again. */
  OVERLOAD,
  /** The engine cannot be reached, or its answer was cut off or is no answer: again. */
  TRANSPORT,
  /** The engine went wrong by itself: again. */
  ENGINE,
  /** The request is wrong: the agent should stop. */
  BAD_REQUEST,
  /** The turn has used up its steps: the agent should stop. */
  STEP_BUDGET,
  /** The call belongs to no turn: the agent should stop. */
  NO_OPEN_TURN;

  /** Whether the same request may do better later. */
  public boolean isTransient() {
    return switch (this) {
      case RATE_LIMIT, OVERLOAD, TRANSPORT, ENGINE -> true;
      case CONTEXT_OVERFLOW,
          OUTPUT_TOO_LONG,
          INVALIDATED,
          AUTHENTICATION,
          BAD_REQUEST,
          STEP_BUDGET,
          NO_OPEN_TURN ->
          false;
    };
  }
}
