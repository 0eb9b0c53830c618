package dev.blackbox.ledger;

import java.util.HashMap;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Turns facts into rows. The same facts in the same order make the same rows, today or when the
 * journal is applied after a crash. Every update says which row it expects to find; if it is not
 * there, the fact does not fit the rows, and nothing of it is applied.
 */
final class FactApplier {

  private FactApplier() {}

  private static final String EVENT =
      """
      INSERT INTO event (sequence, at, type, session_key, turn_id, head, hash)
      VALUES (:sequence, :at, :type, :session_key, :turn_id, :head, :hash)\
      """;

  private static final String BOOT_STARTED =
      """
      INSERT INTO boot (boot, ledger_id, server_version, pid, machine_boot_id, started_at)
      VALUES (:boot, :ledger_id, :server_version, :pid, :machine_boot_id, :at)\
      """;

  private static final String BOOT_ENDED = "UPDATE boot SET ended_at = :at WHERE boot = :boot";

  private static final String CONFIG_SEEN =
      """
      INSERT INTO config (config_hash, content, first_seen_at)
      VALUES (:config_hash, :content, :at)\
      """;

  private static final String BINDING_OPENED =
      """
      INSERT INTO binding (binding_key, runtime_id, boot, backend_type, fingerprint, config_hash,
        parameters_json, view_json, session_key, session_id, instance_id, proxy_port,
        system_prompt_file, system_prompt_text, state, state_reason, paused, pause_reason,
        model_version, opened_at)
      VALUES (:binding_key, :runtime_id, :boot, :backend_type, :fingerprint, :config_hash,
        :parameters_json, :view_json, :session_key, :session_id, :instance_id, :proxy_port,
        :system_prompt_file, :system_prompt_text, 'ready', '', :paused, :pause_reason,
        :model_version, :at)\
      """;

  private static final String BINDING_TAKES_SESSION =
      """
      UPDATE session SET binding_key = :binding_key, runtime_id = :runtime_id, updated_at = :at
      WHERE session_key = :session_key\
      """;

  private static final String BINDING_STATE_CHANGED =
      """
      UPDATE binding SET state = :state, state_reason = :reason
      WHERE binding_key = :binding_key AND closed_at IS NULL\
      """;

  private static final String BINDING_CLOSED =
      """
      UPDATE binding SET closed_at = :at, close_reason = :reason
      WHERE binding_key = :binding_key AND closed_at IS NULL\
      """;

  private static final String PAUSE_CHANGED =
      """
      UPDATE binding SET paused = :paused, pause_reason = :reason, model_version = :model_version
      WHERE binding_key = :binding_key AND closed_at IS NULL\
      """;

  private static final String SESSION_OPENED =
      """
      INSERT INTO session (session_key, session_id, instance_id, binding_key, opening_binding_key,
        runtime_id, backend_type, state, explicit_turn_ids, turn_count, committed_turns,
        created_at, updated_at)
      VALUES (:session_key, :session_id, :instance_id, :binding_key, :binding_key,
        :runtime_id, :backend_type, 'active', FALSE, 0, 0, :at, :at)\
      """;

  private static final String SESSION_DESYNCED =
      """
      UPDATE session SET state = 'desynced', desync_reason = :desync_reason, updated_at = :at
      WHERE session_key = :session_key AND state = 'active'\
      """;

  private static final String SESSION_ABORTED =
      """
      UPDATE session SET state = 'aborted', abort_reason = :abort_reason, updated_at = :at
      WHERE session_key = :session_key AND state IN ('active', 'desynced')\
      """;

  private static final String SESSION_ERASED =
      """
      UPDATE trimmed SET erased_at = :at WHERE session_key = :session_key AND erased_at IS NULL\
      """;

  private static final String BACKEND_SESSION_SEEN =
      """
      UPDATE session SET backend_session_id = :backend_session_id, updated_at = :at
      WHERE session_key = :session_key\
      """;

  private static final String TURN_QUEUED =
      """
      INSERT INTO turn (session_key, turn_id, turn_number, state, fingerprint, request, metadata,
        cancel_requested, queued_by_boot, created_at, updated_at)
      VALUES (:session_key, :turn_id, :turn_number, 'queued', :fingerprint, :request, :metadata,
        FALSE, :boot, :at, :at)\
      """;

  private static final String SESSION_GETS_TURN =
      """
      UPDATE session SET
        generated_turn_id = CASE WHEN :generated THEN :turn_id ELSE generated_turn_id END,
        explicit_turn_ids = explicit_turn_ids OR NOT :generated,
        turn_count = :turn_number, latest_turn_id = :turn_id, updated_at = :at
      WHERE session_key = :session_key\
      """;

  private static final String TURN_STARTED =
      """
      UPDATE turn SET state = 'inflight', started_by_boot = :boot, updated_at = :at
      WHERE session_key = :session_key AND turn_id = :turn_id AND state = 'queued'\
      """;

  private static final String TURN_CANCEL_REQUESTED =
      """
      UPDATE turn SET cancel_requested = TRUE, updated_at = :at
      WHERE session_key = :session_key AND turn_id = :turn_id
        AND state IN ('queued', 'inflight')\
      """;

  private static final String TURN_SETTLED =
      """
      UPDATE turn SET state = :state, session_state = :session_state, error_code = :error_code,
        error_message = :error_message, error_details = :error_details, outputs = :outputs,
        trace = :trace, total_tokens = :total_tokens, input_tokens = :input_tokens,
        output_tokens = :output_tokens, reasoning_tokens = :reasoning_tokens, steps = :steps,
        tool_calls = :tool_calls, backend_session_id = :backend_session_id, updated_at = :at
      WHERE session_key = :session_key AND turn_id = :turn_id
        AND (state = 'inflight' OR state = 'queued' AND :state <> 'committed')\
      """;

  private static final String SESSION_TURN_CHANGED =
      """
      UPDATE session SET latest_turn_id = :turn_id, updated_at = :at
      WHERE session_key = :session_key\
      """;

  private static final String SESSION_TURN_SETTLED =
      """
      UPDATE session SET latest_turn_id = :turn_id, updated_at = :at,
        committed_turns = committed_turns + CASE WHEN :state = 'committed' THEN 1 ELSE 0 END,
        backend_session_id = COALESCE(NULLIF(:backend_session_id, ''), backend_session_id)
      WHERE session_key = :session_key\
      """;

  private static final String COMMAND_QUEUED =
      """
      INSERT INTO command (command_number, session_key, command_id, fingerprint, command,
        timeout_seconds, queued_by_boot, queued_at, interrupted)
      VALUES (:command_number, :session_key, :command_id, :fingerprint, :command,
        :timeout_seconds, :boot, :at, FALSE)\
      """;

  private static final String COMMAND_BEGUN =
      """
      UPDATE command SET started_by_boot = :boot, started_at = :at
      WHERE command_number = :command_number AND started_at IS NULL AND ended_at IS NULL\
      """;

  private static final String COMMAND_STARTED =
      """
      INSERT INTO command (command_number, session_key, command_id, command, timeout_seconds,
        started_by_boot, started_at, interrupted)
      VALUES (:command_number, :session_key, :command_id, :command, :timeout_seconds, :boot, :at,
        FALSE)\
      """;

  private static final String COMMAND_ENDED =
      """
      UPDATE command SET ended_at = :at, return_code = :return_code, timed_out = :timed_out,
        result = :result, state = COALESCE(:state, 'ended'), error = :error
      WHERE command_number = :command_number AND ended_at IS NULL\
      """;

  private static final String COMMAND_INTERRUPTED =
      """
      UPDATE command SET ended_at = :at, interrupted = TRUE, found_by_boot = :found_by_boot
      WHERE command_number = :command_number AND ended_at IS NULL\
      """;

  private static final String PROCESS_STARTED =
      """
      INSERT INTO process (pid, start_ticks, machine_boot_id, boot, kind, started_at)
      VALUES (:pid, :start_ticks, :machine_boot_id, :boot, :kind, :at)\
      """;

  private static final String PROCESS_ENDED =
      """
      UPDATE process SET ended_at = :at, exit_code = :exit_code
      WHERE pid = :pid AND start_ticks = :start_ticks AND machine_boot_id = :machine_boot_id
        AND ended_at IS NULL\
      """;

  private static final String CALL_STARTED =
      """
      INSERT INTO model_call (call_id, session_key, turn_id, step, dialect, stream, model,
        request_bytes, arrived_at, purpose, retry_of, retry_as)
      VALUES (:call_id, :session_key, :turn_id, :step, :dialect, :stream, :model,
        :request_bytes, :arrived_at, :purpose, :retry_of, :retry_as)\
      """;

  private static final String CALL_ENDED =
      """
      UPDATE model_call SET first_byte_at = :first_byte_at, ended_at = :ended_at,
        status = :status, verdict = :verdict, response_bytes = :response_bytes,
        prompt_tokens = :prompt_tokens, completion_tokens = :completion_tokens,
        reasoning_tokens = :reasoning_tokens, cached_tokens = :cached_tokens,
        tool_calls = :tool_calls, finish_reason = :finish_reason, error = :error,
        retries = :retries, sent_at = :sent_at, request_hash = :request_hash,
        response_hash = :response_hash, tokens_from = :tokens_from, capture = :capture
      WHERE call_id = :call_id AND ended_at IS NULL\
      """;

  private static final String CALL_INTERRUPTED =
      """
      UPDATE model_call SET ended_at = :at, status = 0, verdict = 'interrupted',
        response_bytes = 0, tool_calls = 0
      WHERE call_id = :call_id AND ended_at IS NULL\
      """;

  /** The fact as a link of the chain. */
  static void event(
      Handle handle, Chain link, String type, String head, Map<String, @Nullable Object> values) {
    Map<String, @Nullable Object> event = new HashMap<>();
    event.put("sequence", link.sequence());
    event.put("at", values.get("at"));
    event.put("type", type);
    event.put("session_key", values.get("session_key"));
    event.put("turn_id", values.get("turn_id"));
    event.put("head", head);
    event.put("hash", link.hashBytes());
    one(handle, EVENT, event);
  }

  /** The fact as rows. */
  static void rows(Handle handle, Fact fact, Map<String, @Nullable Object> values) {
    switch (fact) {
      case Fact.BootStarted _ -> one(handle, BOOT_STARTED, values);
      case Fact.BootEnded _ -> one(handle, BOOT_ENDED, values);
      case Fact.ConfigSeen _ -> one(handle, CONFIG_SEEN, values);
      case Fact.BindingOpened _ -> {
        one(handle, BINDING_OPENED, values);
        // No session yet if the binding opens a new one: that fact comes right after this one.
        oneOrNone(handle, BINDING_TAKES_SESSION, values);
      }
      case Fact.BindingStateChanged _ -> one(handle, BINDING_STATE_CHANGED, values);
      case Fact.BindingClosed _ -> one(handle, BINDING_CLOSED, values);
      case Fact.PauseChanged _ -> one(handle, PAUSE_CHANGED, values);
      case Fact.SessionOpened _ -> one(handle, SESSION_OPENED, values);
      case Fact.SessionDesynced _ -> one(handle, SESSION_DESYNCED, values);
      case Fact.SessionAborted _ -> one(handle, SESSION_ABORTED, values);
      case Fact.SessionTrimmed trimmed -> TrimRows.apply(handle, trimmed, values);
      case Fact.SessionErased _ -> one(handle, SESSION_ERASED, values);
      case Fact.BackendSessionSeen _ -> one(handle, BACKEND_SESSION_SEEN, values);
      case Fact.TurnQueued _ -> {
        one(handle, TURN_QUEUED, values);
        one(handle, SESSION_GETS_TURN, values);
      }
      case Fact.TurnStarted _ -> {
        one(handle, TURN_STARTED, values);
        one(handle, SESSION_TURN_CHANGED, values);
      }
      case Fact.TurnCancelRequested _ -> {
        one(handle, TURN_CANCEL_REQUESTED, values);
        one(handle, SESSION_TURN_CHANGED, values);
      }
      case Fact.TurnSettled _ -> {
        one(handle, TURN_SETTLED, values);
        one(handle, SESSION_TURN_SETTLED, values);
      }
      case Fact.CommandQueued _ -> one(handle, COMMAND_QUEUED, values);
      case Fact.CommandBegun _ -> one(handle, COMMAND_BEGUN, values);
      case Fact.CommandStarted _ -> one(handle, COMMAND_STARTED, values);
      case Fact.CommandEnded _ -> one(handle, COMMAND_ENDED, values);
      case Fact.CommandInterrupted _ -> one(handle, COMMAND_INTERRUPTED, values);
      case Fact.ProcessStarted _ -> one(handle, PROCESS_STARTED, values);
      case Fact.ProcessEnded _ -> one(handle, PROCESS_ENDED, values);
      case Fact.CallStarted _ -> one(handle, CALL_STARTED, values);
      case Fact.CallEnded _ -> one(handle, CALL_ENDED, values);
      case Fact.CallInterrupted _ -> one(handle, CALL_INTERRUPTED, values);
      case Fact.CallRefused _ -> {
        // Only an event: there is no call to have a row.
      }
    }
  }

  private static void one(Handle handle, String sql, Map<String, @Nullable Object> values) {
    int rows = Sql.update(handle, sql, values);
    if (rows != 1) {
      throw new IllegalStateException(
          "a fact does not fit the rows: " + rows + " rows changed by " + sql);
    }
  }

  private static void oneOrNone(Handle handle, String sql, Map<String, @Nullable Object> values) {
    Sql.update(handle, sql, values);
  }
}
