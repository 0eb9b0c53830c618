package dev.blackbox.turn;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import java.time.Instant;
import java.util.Optional;

/**
 * A session as the ledger has it at one moment.
 *
 * @param key the ledger's number of it, see {@link TurnKey}
 * @param stateReason why it is desynced or aborted; empty while active
 * @param backendSessionId the agent's own name of the conversation, once it is known
 * @param systemPrompt the text that opens its history, if one was registered and is not blank
 * @param generatedTurnId present if the session takes one turn only, under an id that the server
 *     made
 * @param explicitTurnIds true once a turn was accepted under an id that the caller chose
 * @param committedTurns how many turns have been answered
 */
public record SessionSnapshot(
    long key,
    SessionId id,
    InstanceId instanceId,
    String runtimeId,
    String backendType,
    SessionState state,
    String stateReason,
    Optional<String> backendSessionId,
    Optional<SystemPrompt> systemPrompt,
    Optional<TurnId> generatedTurnId,
    boolean explicitTurnIds,
    int committedTurns,
    Instant createdAt,
    Instant updatedAt) {

  /**
   * The system prompt that the session's agent was given.
   *
   * @param sourceFile absolute path of the file that it was read from
   */
  public record SystemPrompt(String sourceFile, String text) {}
}
