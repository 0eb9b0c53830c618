package dev.blackbox.agent;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.process.Processes;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * All that an agent is given.
 *
 * @param runtimeDirectory absolute, exists, private to this binding; after a crash it is the one of
 *     the boot before
 * @param modelBase where the agent finds its model: {@code
 *     http://127.0.0.1:<port><router_api_path>}
 * @param modelKey what the agent must present there as a bearer token
 * @param modelTimeout how long the agent should wait for one model call ({@code router_timeout})
 * @param systemPrompt its text, if one is registered
 * @param knownSession the agent's own session from before a crash of ours, which it must go on with
 * @param startTimeout limit for becoming ready
 * @param probeInterval pause between two looks whether it is ready
 */
public record AgentSlot(
    Path runtimeDirectory,
    SessionId sessionId,
    InstanceId instanceId,
    URI modelBase,
    Secret modelKey,
    Duration modelTimeout,
    Optional<String> systemPrompt,
    Optional<String> knownSession,
    Duration startTimeout,
    Duration probeInterval,
    Processes processes,
    InstantSource clock) {

  /** Where the agent works: its current directory, apart from its configuration and logs. */
  public Path workspace() {
    return workspace(runtimeDirectory);
  }

  /** The workspace of any backend, for those who have only the runtime directory. */
  public static Path workspace(Path runtimeDirectory) {
    return runtimeDirectory.resolve("workspace");
  }
}
