package dev.blackbox.turn;

/**
 * How a turn ended. The work is kept in every case, also that of a turn which was cancelled or
 * failed.
 */
public sealed interface TurnOutcome {

  Work work();

  TurnState state();

  /** The agent answered. */
  record Committed(Work work) implements TurnOutcome {
    @Override
    public TurnState state() {
      return TurnState.COMMITTED;
    }
  }

  /** An end without an answer, whose reason is told to the caller. */
  sealed interface WithoutAnswer extends TurnOutcome {
    TurnError error();
  }

  /** The agent surely did not do it; the session goes on. */
  record Failed(TurnError error, Work work) implements WithoutAnswer {
    @Override
    public TurnState state() {
      return TurnState.FAILED;
    }
  }

  /** Ended on request, and the agent is known to have stopped; the session goes on. */
  record Cancelled(TurnError error, Work work) implements WithoutAnswer {
    @Override
    public TurnState state() {
      return TurnState.CANCELLED;
    }
  }

  /**
   * What the agent did is not known for sure; the session is desynced with this error's message as
   * the reason.
   */
  record Unknown(TurnError error, Work work) implements WithoutAnswer {
    @Override
    public TurnState state() {
      return TurnState.UNKNOWN;
    }
  }
}
