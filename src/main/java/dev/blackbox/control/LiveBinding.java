package dev.blackbox.control;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The agent that is bound now. Holds what the ledger cannot: the running agent, and the next
 * sequence number of its trace, which only the thread of its one running turn touches.
 *
 * @param fingerprint of all parameters, the system prompt's content included
 * @param parametersFingerprint of all parameters but that content, for repeats whose prompt file is
 *     gone
 */
record LiveBinding(
    String runtimeId,
    long sessionKey,
    SessionId sessionId,
    InstanceId instanceId,
    String backendType,
    String fingerprint,
    String parametersFingerprint,
    ServerSettings effective,
    Path runtimeDirectory,
    Agent agent,
    Rollout.BindingView view,
    AtomicLong nextTraceSequence) {

  /** A binding of an agent that runs already. */
  static LiveBinding of(
      Registration registration,
      Path directory,
      Agent agent,
      long sessionKey,
      String viewJson,
      long nextTraceSequence) {
    return new LiveBinding(
        directory.getFileName().toString(),
        sessionKey,
        registration.sessionId(),
        registration.instanceId(),
        registration.backend().type(),
        registration.fingerprint(),
        registration.parametersFingerprint(),
        registration.effective(),
        directory,
        agent,
        BindingViews.view(registration, viewJson),
        new AtomicLong(nextTraceSequence));
  }

  /** Where the agent works, and where commands run. */
  Path workspace() {
    return AgentSlot.workspace(runtimeDirectory);
  }
}
