package dev.blackbox.ledger;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Something that happened, as it is written once and then applied. The journal is the sequence of
 * facts; the tables are the facts applied.
 *
 * <p>Facts of every landed version stay readable, so a component is never renamed, never removed
 * and never changes its meaning; a new one is added with a type whose absent value ({@link
 * FactCodec}) means what was true before. Components are strings, numbers, booleans, instants and
 * optional ones of these; which of them are <em>bodies</em> is said in {@link FactCodec#SHAPES}.
 *
 * <p>{@code at} is the writer's clock, in whole microseconds. Nothing that {@link FactApplier} does
 * may depend on anything but the fact and the rows before it.
 */
sealed interface Fact {

  Instant at();

  /**
   * @param ledgerId the same in all boots of one ledger
   */
  record BootStarted(
      Instant at, long boot, String ledgerId, String serverVersion, long pid, String machineBootId)
      implements Fact {}

  /** The boot ended in order. */
  record BootEnded(Instant at, long boot) implements Fact {}

  /** A configuration was used for the first time. */
  record ConfigSeen(Instant at, String configHash, String content) implements Fact {}

  /**
   * @param paused whether the binding before it was paused, if it goes on with its session
   */
  record BindingOpened(
      Instant at,
      long bindingKey,
      String runtimeId,
      long boot,
      String backendType,
      String fingerprint,
      String configHash,
      long sessionKey,
      String sessionId,
      String instanceId,
      int proxyPort,
      Optional<String> systemPromptFile,
      boolean paused,
      String pauseReason,
      Optional<String> modelVersion,
      String parametersJson,
      String viewJson,
      Optional<String> systemPromptText)
      implements Fact {}

  record BindingStateChanged(
      Instant at, long bindingKey, String runtimeId, String state, String reason) implements Fact {}

  record BindingClosed(Instant at, long bindingKey, String runtimeId, String reason)
      implements Fact {}

  record PauseChanged(
      Instant at,
      long bindingKey,
      String runtimeId,
      boolean paused,
      String reason,
      Optional<String> modelVersion)
      implements Fact {}

  record SessionOpened(
      Instant at,
      long sessionKey,
      String sessionId,
      String instanceId,
      long bindingKey,
      String runtimeId,
      String backendType)
      implements Fact {}

  record SessionDesynced(Instant at, long sessionKey, String desyncReason) implements Fact {}

  record SessionAborted(Instant at, long sessionKey, String abortReason) implements Fact {}

  /**
   * A session is no longer kept, nor is any fact of it but this one and refused calls.
   *
   * @param turns how many it had
   * @param reason {@code age} or {@code size}
   * @param content see {@link TrimmedContent}
   */
  record SessionTrimmed(
      Instant at,
      long sessionKey,
      String sessionId,
      String instanceId,
      String state,
      int turns,
      String reason,
      String content)
      implements Fact {}

  /** The facts of a trimmed session are gone from the journal, too. */
  record SessionErased(Instant at, long sessionKey) implements Fact {}

  record BackendSessionSeen(Instant at, long sessionKey, String backendSessionId) implements Fact {}

  /**
   * @param turnNumber from 1 within the session
   * @param generated whether the server made the id
   */
  record TurnQueued(
      Instant at,
      long sessionKey,
      String turnId,
      int turnNumber,
      boolean generated,
      String fingerprint,
      long boot,
      String request,
      String metadata)
      implements Fact {}

  record TurnStarted(Instant at, long sessionKey, String turnId, long boot) implements Fact {}

  record TurnCancelRequested(Instant at, long sessionKey, String turnId) implements Fact {}

  /**
   * @param state wire name of a settled {@link dev.blackbox.turn.TurnState}
   * @param sessionState wire name of the session's state right after
   * @param errorCode wire name; absent exactly when committed, as are the other two of the error
   */
  record TurnSettled(
      Instant at,
      long sessionKey,
      String turnId,
      String state,
      String sessionState,
      Optional<String> errorCode,
      long totalTokens,
      long inputTokens,
      long outputTokens,
      long reasoningTokens,
      long steps,
      long toolCalls,
      String backendSessionId,
      Optional<String> errorMessage,
      Optional<String> errorDetails,
      String outputs,
      String trace)
      implements Fact {}

  /** A command was accepted; nothing of it has run. */
  record CommandQueued(
      Instant at,
      long commandNumber,
      long sessionKey,
      String commandId,
      String fingerprint,
      double timeoutSeconds,
      long boot,
      String command)
      implements Fact {}

  /** From now on the shell may do any part of it. */
  record CommandBegun(Instant at, long commandNumber, long sessionKey, long boot) implements Fact {}

  /** Accepted and begun at once: how it was said before commands could wait. */
  record CommandStarted(
      Instant at,
      long commandNumber,
      long sessionKey,
      Optional<String> commandId,
      double timeoutSeconds,
      long boot,
      String command)
      implements Fact {}

  /**
   * @param result empty if the shell did not run
   * @param state wire name of a settled {@link dev.blackbox.turn.CommandState}; absent: ended
   * @param error a {@link dev.blackbox.turn.TurnError} as JSON
   */
  record CommandEnded(
      Instant at,
      long commandNumber,
      long sessionKey,
      OptionalInt returnCode,
      boolean timedOut,
      String result,
      Optional<String> state,
      Optional<String> error)
      implements Fact {}

  /** The boot that ran it is gone; what it did is not known. */
  record CommandInterrupted(Instant at, long commandNumber, long sessionKey, long foundByBoot)
      implements Fact {}

  record ProcessStarted(
      Instant at, long boot, String kind, long pid, long startTicks, String machineBootId)
      implements Fact {}

  record ProcessEnded(Instant at, long pid, long startTicks, String machineBootId, int exitCode)
      implements Fact {}

  /**
   * @param arrivedAt the proxy's clock, as all times of calls but {@code at}
   * @param purpose empty in facts of before it was recorded
   */
  record CallStarted(
      Instant at,
      String callId,
      long sessionKey,
      String turnId,
      int step,
      String dialect,
      boolean stream,
      String model,
      long requestBytes,
      Instant arrivedAt,
      Optional<String> purpose,
      Optional<String> retryOf,
      Optional<String> retryAs)
      implements Fact {}

  /**
   * @param tokensFrom {@code estimate} if the engine reported none
   * @param capture wire name of the proxy's {@code CaptureDecision}; absent before it was recorded
   */
  record CallEnded(
      Instant at,
      String callId,
      long sessionKey,
      String turnId,
      int status,
      String verdict,
      Optional<Instant> firstByteAt,
      Instant endedAt,
      long responseBytes,
      OptionalLong promptTokens,
      OptionalLong completionTokens,
      OptionalLong reasoningTokens,
      OptionalLong cachedTokens,
      int toolCalls,
      Optional<String> finishReason,
      Optional<String> error,
      OptionalInt retries,
      Optional<Instant> sentAt,
      Optional<String> requestHash,
      Optional<String> responseHash,
      Optional<String> tokensFrom,
      Optional<String> capture)
      implements Fact {}

  /** The boot that passed it on is gone; how it ended is not known. */
  record CallInterrupted(
      Instant at, String callId, long sessionKey, String turnId, long foundByBoot)
      implements Fact {}

  record CallRefused(
      Instant at,
      OptionalLong sessionKey,
      Optional<String> turnId,
      String reason,
      String method,
      String path,
      Instant refusedAt)
      implements Fact {}
}
