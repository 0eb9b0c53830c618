package dev.blackbox.turn;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import java.time.Instant;
import java.util.Optional;

/**
 * A shell command as the ledger has it at one moment.
 *
 * @param number of the command, over all sessions
 * @param commandId absent only in ledgers of before there were ids
 * @param fingerprint of what was asked for; equal fingerprints are the same request
 * @param resultJson what its caller is told, exactly, if the shell ran and its end was seen
 * @param error why it has no result, or why it was ended before its time
 */
public record CommandSnapshot(
    long number,
    long sessionKey,
    SessionId sessionId,
    InstanceId instanceId,
    Optional<CommandId> commandId,
    String fingerprint,
    String command,
    double timeoutSeconds,
    CommandState state,
    Optional<String> resultJson,
    Optional<TurnError> error,
    Instant createdAt,
    Instant updatedAt) {}
