package dev.blackbox.turn;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A turn as the ledger has it at one moment.
 *
 * @param fingerprint of the request's messages; equal fingerprints are the same request
 * @param requestJson the JSON array of the request's messages
 * @param settlement present exactly when the state is settled
 * @param queuedByBoot the number of the boot that accepted it
 * @param startedByBoot the number of the boot that let the agent see it, if any did
 */
public record TurnSnapshot(
    TurnKey key,
    SessionId sessionId,
    InstanceId instanceId,
    String backendType,
    TurnState state,
    String fingerprint,
    String requestJson,
    boolean cancelRequested,
    Optional<Settlement> settlement,
    Instant createdAt,
    Instant updatedAt,
    long queuedByBoot,
    OptionalLong startedByBoot) {

  /**
   * The end of a turn.
   *
   * @param sessionState the session's state right after the turn settled; replays repeat it (P3)
   */
  public record Settlement(TurnOutcome outcome, SessionState sessionState) {}
}
