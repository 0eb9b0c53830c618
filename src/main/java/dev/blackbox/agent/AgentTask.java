package dev.blackbox.agent;

import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.TurnId;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One turn for an agent.
 *
 * @param prompt the user's text, not blank, of any size that the HTTP door lets in
 * @param backendSession to be told the agent's own session id as soon as it is known, before the
 *     agent sees the prompt where the agent allows that; returns after it is recorded
 * @param traceSequence first sequence number for trace events of this turn
 * @param modelKey what an agent that is started for this turn presents to its model, instead of the
 *     slot's key; empty: there is none of its own
 */
public record AgentTask(
    TurnId turnId,
    String prompt,
    Consumer<String> backendSession,
    long traceSequence,
    Optional<Secret> modelKey) {

  /** One without a key of its own. */
  public AgentTask(
      TurnId turnId, String prompt, Consumer<String> backendSession, long traceSequence) {
    this(turnId, prompt, backendSession, traceSequence, Optional.empty());
  }
}
