package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.CommandState;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import dev.blackbox.wire.Timestamps;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What goes into the ledger's verbs and comes out of them. */
public final class LedgerFacts {

  private LedgerFacts() {}

  /**
   * This boot, as it is told to the ledger.
   *
   * @param serverVersion of this program
   * @param pid of this process
   * @param machineBootId see {@code ProcessIdentity}
   */
  public record BootStarting(String serverVersion, long pid, String machineBootId) {}

  /** What recovery settled. */
  public record Recovered(
      int turnsInterrupted,
      int commandsInterrupted,
      int callsInterrupted,
      int turnsQueued,
      long factsApplied) {}

  /**
   * A binding.
   *
   * @param parametersJson the whole registration, secrets removed
   * @param configHash of {@code configJson}
   * @param configJson everything that decides how the agent behaves, secrets replaced by their
   *     hashes
   * @param viewJson the binding as the HTTP API shows it
   * @param continues the session to go on with; empty opens a new one
   */
  public record Binding(
      String runtimeId,
      String backendType,
      String fingerprint,
      String parametersJson,
      String configHash,
      String configJson,
      String viewJson,
      SessionId sessionId,
      InstanceId instanceId,
      int proxyPort,
      Optional<SessionSnapshot.SystemPrompt> systemPrompt,
      OptionalLong continues) {}

  /** The binding that was made, and the session it serves. */
  public record Bound(String runtimeId, long sessionKey) {}

  /**
   * The open binding, as a later boot finds it.
   *
   * @param state {@code ready} or {@code error}
   */
  public record OpenBinding(
      Binding binding,
      long sessionKey,
      String state,
      String stateReason,
      Pause pause,
      Instant openedAt) {}

  /**
   * Whether model calls and new turns wait.
   *
   * @param reason of the pause; empty when not paused
   * @param version of the model's weights, if it was ever told
   */
  public record Pause(boolean paused, String reason, Optional<String> version) {
    public static final Pause NONE = new Pause(false, "", Optional.empty());
  }

  /**
   * A turn is asked for.
   *
   * @param turnId the caller's name for it; empty: the server's one generated id of this session
   * @param refusal answered if the turn is not known: why nothing new is admitted now (P3: a known
   *     turn wins over it)
   * @param committedTurnsMax beyond it {@code too_many_requests}
   */
  public record Admit(
      long sessionKey,
      Optional<TurnId> turnId,
      String fingerprint,
      String requestJson,
      String metadataJson,
      Optional<Problem> refusal,
      int committedTurnsMax) {}

  /** What became of an {@link Admit}. */
  public sealed interface Admission {

    /** New: recorded as queued. */
    record Fresh(TurnSnapshot turn) implements Admission {}

    /** Known, with the same request: the stored record, settled or still running. */
    record Known(TurnSnapshot turn) implements Admission {}

    /** Not admitted; nothing was recorded. */
    record Refused(Problem problem) implements Admission {}
  }

  /**
   * A shell command is asked for.
   *
   * @param commandId the caller's name for it; empty: one is made
   * @param fingerprint of what is asked for; equal fingerprints are the same request
   * @param refusal answered if the command is not known: why none is admitted now
   * @param openMax commands of the session that may wait or run; beyond it {@code
   *     service_unavailable}
   */
  public record CommandAdmit(
      long sessionKey,
      Optional<CommandId> commandId,
      String fingerprint,
      String command,
      double timeoutSeconds,
      Optional<Problem> refusal,
      int openMax) {}

  /** What became of a {@link CommandAdmit}. */
  public sealed interface CommandAdmission {

    /** New: recorded as queued. */
    record Fresh(CommandSnapshot command) implements CommandAdmission {}

    /** Known, with the same request: the stored record, settled or not. */
    record Known(CommandSnapshot command) implements CommandAdmission {}

    /** Not admitted; nothing was recorded. */
    record Refused(Problem problem) implements CommandAdmission {}
  }

  /**
   * How a command ended.
   *
   * @param state a settled one, but not {@code INTERRUPTED}, which only recovery finds
   * @param resultJson what the caller is told, exactly; empty if the shell did not run
   * @param error absent if it ended by itself or at its time limit
   */
  public record CommandEnd(
      CommandState state,
      OptionalInt returnCode,
      boolean timedOut,
      String resultJson,
      Optional<TurnError> error) {

    /** It ended by itself, or at its time limit. */
    public static CommandEnd ended(OptionalInt returnCode, boolean timedOut, String resultJson) {
      return new CommandEnd(CommandState.ENDED, returnCode, timedOut, resultJson, Optional.empty());
    }

    /** It did not run. */
    public static CommandEnd without(CommandState state, TurnError error) {
      return new CommandEnd(state, OptionalInt.empty(), false, "", Optional.of(error));
    }
  }

  /** A process runs. Identity as in the process room. */
  public record ProcessStart(String kind, long pid, long startTicks, String machineBootId) {}

  /** A process ended. */
  public record ProcessEnd(long pid, long startTicks, String machineBootId, int exitCode) {}

  /** A process that the ledger does not know to have ended. */
  public record LeftProcess(
      long boot, String kind, long pid, long startTicks, String machineBootId) {}

  /** Facts about model calls. */
  public sealed interface CallFact {}

  /**
   * Fields as in the proxy's {@code CallSink.CallStarted}.
   *
   * @param retryOf the call that its agent sent again with this one
   * @param retryAs {@code joined}, {@code replayed} or {@code again}
   */
  public record CallStarted(
      String callId,
      TurnKey turn,
      int step,
      String dialect,
      boolean stream,
      String model,
      long requestBytes,
      Instant arrivedAt,
      String purpose,
      Optional<String> retryOf,
      Optional<String> retryAs)
      implements CallFact {}

  /**
   * Fields as in the proxy's {@code CallSink.CallEnded}.
   *
   * @param capture empty if it ended before this was recorded, or was interrupted
   */
  public record CallEnded(
      String callId,
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
      int retries,
      Optional<Instant> sentAt,
      Optional<String> requestHash,
      Optional<String> responseHash,
      boolean tokensEstimated,
      Optional<String> capture)
      implements CallFact {}

  /** Fields as in the proxy's {@code CallSink.CallRefused}. */
  public record CallRefused(
      OptionalLong sessionKey,
      Optional<TurnId> turnId,
      String reason,
      String method,
      String path,
      Instant at)
      implements CallFact {}

  /** A model call as the ledger has it. */
  public record CallRecord(CallStarted start, Optional<CallEnded> end) {}

  /**
   * What is left of a session that is no longer kept.
   *
   * @param state as it was last
   * @param turns how many it had
   * @param reason {@code age} or {@code size}
   */
  public record TrimmedSession(
      long sessionKey,
      SessionId sessionId,
      InstanceId instanceId,
      String state,
      int turns,
      Instant trimmedAt,
      String reason) {

    /** What whoever asks for it, or for anything in it, is told. */
    public Problem gone() {
      return gone(Optional.empty());
    }

    /**
     * As {@link #gone()}.
     *
     * @param turn the one that is asked for, if it was one of its turns
     */
    public Problem gone(Optional<TrimmedTurn> turn) {
      Map<String, Object> details = new LinkedHashMap<>();
      details.put("session_id", sessionId.value());
      turn.ifPresent(
          found -> {
            details.put("turn_id", found.turnId().value());
            details.put("state", found.state().wireName());
          });
      details.put("trimmed_at", Timestamps.iso(trimmedAt));
      details.put("reason", reason);
      return Problem.of(
          ErrorCode.GONE,
          (turn.isPresent() ? "Turn ended, and its answer" : "Session ended, and what was in it")
              + " is no longer kept. Nothing of it runs again.",
          details);
    }
  }

  /**
   * What a ledger takes on disk.
   *
   * @param bytes of journal and database
   * @param bytesInUse without what H2 has free within its file, which it uses again or gives back
   * @param bytesMax the budget, which {@code bytesInUse} is held against; 0: there is none
   * @param sessionsTrimmed since the ledger was begun
   */
  public record DiskUse(long bytes, long bytesInUse, long bytesMax, long sessionsTrimmed) {}

  /**
   * What is left of a turn that is no longer kept.
   *
   * @param state a settled one
   * @param fingerprint SHA-256 of the fingerprint of its request
   */
  public record TrimmedTurn(TurnId turnId, TurnState state, String fingerprint) {}

  /** One link of the hash chain. */
  public record Event(
      long sequence,
      Instant at,
      String type,
      OptionalLong sessionKey,
      Optional<TurnId> turnId,
      String headJson,
      String hash) {}

  /** How many sessions there are in each state. */
  public record SessionCounts(int active, int desynced, int aborted) {
    public int total() {
      return active + desynced + aborted;
    }
  }

  /**
   * What a check of the whole history found.
   *
   * @param events that are there
   * @param eventsTrimmed that went with sessions that were trimmed
   * @param problems empty if it is whole; each says which sequence number and what is wrong
   */
  public record ChainReport(
      long events,
      long firstSequence,
      long eventsTrimmed,
      long lastSequence,
      String lastHash,
      List<String> problems) {}
}
