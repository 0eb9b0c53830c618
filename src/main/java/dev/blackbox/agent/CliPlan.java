package dev.blackbox.agent;

import java.io.IOException;
import java.util.Map;
import java.util.function.Function;

/**
 * Checked options of an agent that is one process per turn.
 *
 * @param dialect how it is called, in a slot
 */
public record CliPlan(
    ProgramFinder.Found program, CliLimits limits, Function<AgentSlot, CliDialect> dialect)
    implements Backend.Plan {

  @Override
  public Map<String, String> identity() {
    return program.identity();
  }

  @Override
  public Agent start(AgentSlot slot) throws AgentStartException {
    CliDialect made = dialect.apply(slot);
    try {
      made.prepare();
    } catch (IOException failed) {
      throw new AgentStartException(
          "the files of " + made.type() + " cannot be written: " + failed, failed);
    }
    return new CliAgent(slot, made, limits);
  }
}
