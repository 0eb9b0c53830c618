package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnError;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.RawJson;
import dev.blackbox.wire.Timestamps;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The bodies of the API's answers, field by field in the reference server's order and words. */
final class Answers {

  private Answers() {}

  /** An object from names and values in turn; a value may be null. */
  static Map<String, @Nullable Object> fields(@Nullable Object... namesAndValues) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    for (int at = 0; at < namesAndValues.length; at += 2) {
      fields.put(String.valueOf(namesAndValues[at]), namesAndValues[at + 1]);
    }
    return fields;
  }

  static Map<String, @Nullable Object> status(Rollout.StatusView view) {
    Rollout.SessionCountsView counts = view.sessions();
    return fields(
        "status",
        view.state(),
        "binding",
        view.binding().map(binding -> new RawJson(binding.bindingJson())).orElse(null),
        "sessions",
        fields(
            "active_count",
            counts.active(),
            "desynced_count",
            counts.desynced(),
            "aborted_count",
            counts.aborted(),
            "total_count",
            counts.total(),
            "max_sessions",
            view.effective().maxSessions()),
        "capabilities",
        view.binding().map(binding -> new RawJson(binding.capabilitiesJson())).orElse(null),
        "config",
        view.effective().toTree(),
        "implemented_backends",
        view.implementedBackends(),
        "known_backends",
        view.knownBackends(),
        "server",
        run(view.run()));
  }

  private static Map<String, @Nullable Object> run(Rollout.RunView run) {
    Rollout.HealthView health = run.backendHealth();
    return fields(
        "state_reason",
        run.stateReason(),
        "uptime_seconds",
        run.uptime().toMillis() / 1e3,
        "boot",
        run.boot(),
        "backend_health",
        fields(
            "status",
            health.status(),
            "reason",
            health.reason(),
            "last_seen_healthy",
            health.lastSeenHealthy().map(Timestamps::iso).orElse(null)),
        "active_turn",
        run.activeTurn()
            .map(
                turn ->
                    fields(
                        "turn_id",
                        turn.key().turnId().value(),
                        "status",
                        turn.state().wireName(),
                        "created_at",
                        Timestamps.iso(turn.createdAt())))
            .orElse(null),
        "ledger",
        fields(
            "bytes",
            run.ledger().bytes(),
            "bytes_in_use",
            run.ledger().bytesInUse(),
            "bytes_max",
            run.ledger().bytesMax(),
            "sessions_trimmed",
            run.ledger().sessionsTrimmed()),
        "recovered",
        run.recovered());
  }

  static Map<String, @Nullable Object> binding(Rollout.BindingView view) {
    return fields(
        "status",
        "ready",
        "binding",
        new RawJson(view.bindingJson()),
        "capabilities",
        new RawJson(view.capabilitiesJson()),
        "config",
        view.effective().toTree());
  }

  /** The three counters are the engine's, as far as its answer has them. */
  static Map<String, @Nullable Object> pause(Rollout.PauseView view) {
    Map<String, @Nullable Object> details = view.details();
    return fields(
        "status",
        view.status(),
        "reason",
        view.reason(),
        "quiesced",
        view.quiesced(),
        "version",
        view.version(),
        "http_inflight_requests",
        details.getOrDefault("http_inflight_requests", 0),
        "active_sglang_generations",
        details.getOrDefault("active_sglang_generations", 0),
        "suspended_generations",
        details.getOrDefault("suspended_generations", 0),
        "details",
        details);
  }

  static Map<String, @Nullable Object> resume(Rollout.ResumeView view) {
    return fields(
        "status",
        view.status(),
        "reason",
        view.reason(),
        "version",
        view.version(),
        "details",
        view.details());
  }

  static Map<String, @Nullable Object> pauseState(Rollout.PauseState state) {
    return fields(
        "paused",
        state.paused(),
        "pause_reason",
        state.reason().orElse(null),
        "version",
        state.version().orElse(null),
        "adapter",
        new RawJson(state.adapterJson()));
  }

  static Map<String, @Nullable Object> accepted(TurnSnapshot turn, boolean replay) {
    Map<String, @Nullable Object> accepted = names(turn);
    accepted.put("status", turn.state().wireName());
    accepted.put("idempotent_replay", replay);
    return accepted;
  }

  /**
   * The answer to a synchronous submission. All but the replay flag comes from the stored turn, so
   * that a replay equals the first answer byte for byte (P3).
   */
  static Map<String, @Nullable Object> committed(TurnSnapshot turn, Work work, boolean replay) {
    Map<String, @Nullable Object> answer = names(turn);
    answer.put("state", settlement(turn).sessionState().wireName());
    answer.put("idempotent_replay", replay);
    answer.put("outputs", new RawJson(work.outputsJson()));
    answer.put("backend", backend(turn, work));
    answer.put("usage", work.usage());
    return answer;
  }

  static Map<String, @Nullable Object> turn(Rollout.TurnView view) {
    TurnSnapshot turn = view.turn();
    Optional<Work> work = answeredWork(turn);
    Map<String, @Nullable Object> answer = names(turn);
    answer.put("status", turn.state().wireName());
    answer.put("state", view.sessionState());
    answer.put("outputs", work.map(done -> new RawJson(done.outputsJson())).orElse(null));
    answer.put("usage", work.map(Work::usage).orElse(null));
    answer.put("backend", work.map(done -> backend(turn, done)).orElse(null));
    answer.put("error", error(turn));
    answer.put("created_at", Timestamps.iso(turn.createdAt()));
    answer.put("updated_at", Timestamps.iso(turn.updatedAt()));
    return answer;
  }

  static Map<String, @Nullable Object> cancel(Rollout.CancelView view) {
    Map<String, @Nullable Object> answer = names(view.turn().turn());
    answer.put("status", view.status());
    answer.put("state", view.turn().sessionState());
    return answer;
  }

  /** The answer to a synchronous command: what was stored at its end, and whose it is. */
  static Map<String, @Nullable Object> commandResult(CommandSnapshot command) {
    Map<String, @Nullable Object> answer =
        new LinkedHashMap<>(Json.object(command.resultJson().orElse("{}")));
    answer.put("session_id", command.sessionId().value());
    answer.put("instance_id", command.instanceId().value());
    return answer;
  }

  static Map<String, @Nullable Object> command(Rollout.CommandView view) {
    CommandSnapshot command = view.command();
    Map<String, @Nullable Object> answer =
        fields(
            "session_id",
            command.sessionId().value(),
            "instance_id",
            command.instanceId().value(),
            "state",
            view.sessionState());
    answer.putAll(commandLine(command));
    answer.put("result", command.resultJson().map(RawJson::new).orElse(null));
    return answer;
  }

  /** A command as a list shows it, without its output. */
  static Map<String, @Nullable Object> commandLine(CommandSnapshot command) {
    return fields(
        "command_id",
        command.commandId().map(CommandId::value).orElse(null),
        "cmd",
        command.command(),
        "timeout",
        command.timeoutSeconds(),
        "status",
        command.state().wireName(),
        "error",
        command.error().map(Answers::error).orElse(null),
        "created_at",
        Timestamps.iso(command.createdAt()),
        "updated_at",
        Timestamps.iso(command.updatedAt()));
  }

  static Map<String, @Nullable Object> abort(Rollout.AbortView view) {
    SessionSnapshot session = view.session();
    return fields(
        "session_id",
        session.id().value(),
        "instance_id",
        session.instanceId().value(),
        "action",
        "abort",
        "state",
        session.state().wireName(),
        "mode",
        view.mode());
  }

  /** A session without its history. */
  static Map<String, @Nullable Object> session(Rollout.SessionView view) {
    SessionSnapshot session = view.session();
    return fields(
        "session_id",
        session.id().value(),
        "instance_id",
        session.instanceId().value(),
        "state",
        session.state().wireName(),
        "blackbox_type",
        session.backendType(),
        "backend_session_id",
        session.backendSessionId().orElse(null),
        "message_count",
        view.messageCount(),
        "turn_count",
        session.committedTurns(),
        "created_at",
        Timestamps.iso(session.createdAt()),
        "updated_at",
        Timestamps.iso(session.updatedAt()));
  }

  /** One entry of a session's {@code turn_ledger}. */
  static Map<String, @Nullable Object> ledgerEntry(TurnSnapshot turn) {
    return fields(
        "turn_id",
        turn.key().turnId().value(),
        "request_fingerprint",
        turn.fingerprint(),
        "status",
        turn.state().wireName(),
        "request_messages",
        new RawJson(turn.requestJson()),
        "response",
        answeredWork(turn).map(Answers::response).orElse(null),
        "error",
        error(turn),
        "created_at",
        Timestamps.iso(turn.createdAt()),
        "updated_at",
        Timestamps.iso(turn.updatedAt()));
  }

  static TurnSnapshot.Settlement settlement(TurnSnapshot turn) {
    return turn.settlement()
        .orElseThrow(() -> new IllegalStateException("turn " + turn.key() + " has not settled"));
  }

  /** What the agent did in a turn that it answered; empty for all others. */
  static Optional<Work> answeredWork(TurnSnapshot turn) {
    return turn.settlement()
        .flatMap(
            end ->
                end.outcome() instanceof TurnOutcome.Committed committed
                    ? Optional.of(committed.work())
                    : Optional.empty());
  }

  private static Map<String, @Nullable Object> response(Work work) {
    return fields(
        "outputs",
        new RawJson(work.outputsJson()),
        "trace_events",
        new RawJson(work.traceJson()),
        "usage",
        work.usage(),
        "backend_session_id",
        work.backendSessionId());
  }

  private static @Nullable Map<String, @Nullable Object> error(TurnSnapshot turn) {
    if (turn.settlement().isPresent()
        && turn.settlement().get().outcome() instanceof TurnOutcome.WithoutAnswer without) {
      return error(without.error());
    }
    return null;
  }

  private static Map<String, @Nullable Object> error(TurnError error) {
    return fields(
        "error",
        error.code().wireName(),
        "message",
        error.message(),
        "details",
        error.details(),
        "http_status",
        error.httpStatus());
  }

  private static Map<String, @Nullable Object> backend(TurnSnapshot turn, Work work) {
    return fields("type", turn.backendType(), "backend_session_id", work.backendSessionId());
  }

  private static Map<String, @Nullable Object> names(TurnSnapshot turn) {
    return fields(
        "session_id",
        turn.sessionId().value(),
        "instance_id",
        turn.instanceId().value(),
        "turn_id",
        turn.key().turnId().value());
  }
}
