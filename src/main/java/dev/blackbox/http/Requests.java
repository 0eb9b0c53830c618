package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.wire.Message;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The request bodies of the API: what each field is called, what it may hold, what holds when it is
 * absent. All faults of a body are answered together (400), before anything else is asked.
 */
final class Requests {

  private static final List<String> ROLES = List.of("system", "user", "assistant", "tool");
  private static final List<String> MODES = List.of("sync", "async");
  private static final String WEIGHT_UPDATE = "weight_update";

  /**
   * A longer limit is no limit, and must still fit into clock arithmetic: about 31 years, in
   * seconds.
   */
  private static final double LIMIT_SECONDS_MAX = 1e9;

  private Requests() {}

  static Rollout.RegisterRequest register(Body body) {
    Faults faults = new Faults();
    Fields fields = body.required(faults);
    String blackboxType = fields.text("blackbox_type");
    String router = fields.text("router");
    String routerApiPath = fields.text("router_api_path", "/v1");
    Optional<String> sessionId = fields.textIfAny("bound_session_id");
    Optional<String> instanceId = fields.textIfAny("bound_instance_id");
    Optional<String> sandboxId = fields.textIfAny("bound_sandbox_id");
    Optional<String> systemPromptFile = fields.textIfAny("system_prompt_file");
    Map<String, @Nullable Object> backendOptions = fields.object("backend_options");
    Map<String, Object> serverConfig =
        fields.nested("server_config").map(Requests::serverConfig).orElse(Map.of());
    faults.throwIfAny();
    return new Rollout.RegisterRequest(
        blackboxType,
        router,
        routerApiPath,
        sessionId,
        instanceId,
        sandboxId,
        systemPromptFile,
        backendOptions,
        serverConfig);
  }

  /**
   * The keys that a registration may override. Tighter than the reference in that times must be
   * positive and finite and {@code max_turns} not negative: there such values make every later turn
   * fail.
   */
  private static Map<String, Object> serverConfig(Fields config) {
    Map<String, Object> known = new LinkedHashMap<>();
    put(known, "runtime_root", config.textIfAny("runtime_root"));
    put(known, "max_sessions", config.integer("max_sessions", Fields.Range.FROM_1));
    put(known, "max_turns", config.integer("max_turns", Fields.Range.FROM_0));
    putSeconds(known, config, "backend_timeout", Fields.Range.OVER_0);
    putSeconds(known, config, "execute_cmd_timeout", Fields.Range.OVER_0);
    put(known, "router_timeout", config.integer("router_timeout", Fields.Range.OVER_0));
    putSeconds(known, config, "runtime_health_check_interval", Fields.Range.OVER_0);
    String retries = "runtime_health_check_retries";
    put(known, retries, config.integer(retries, Fields.Range.FROM_1));
    putSeconds(known, config, "runtime_health_check_retry_delay", Fields.Range.FROM_0);
    return known;
  }

  private static void putSeconds(
      Map<String, Object> known, Fields config, String name, Fields.Range range) {
    put(known, name, config.finiteNumber(name, range));
  }

  private static void put(Map<String, Object> known, String name, Optional<?> value) {
    value.ifPresent(present -> known.put(name, present));
  }

  /** A submission, and how long its sender waits for the result. */
  record Submit(Rollout.SubmitRequest request, Pace pace) {}

  /** A shell command, and how long its sender waits for the result. */
  record Execute(Rollout.ExecuteRequest request, Pace pace) {}

  static Submit submit(Call call, int waitSecondsMax) {
    Faults faults = new Faults();
    Fields fields = call.body().required(faults);
    Optional<String> turnId =
        IdempotencyKey.orField(call.headers(), "turn_id", fields.textIfAny("turn_id"), faults);
    Optional<String> mode = fields.oneOf("mode", MODES);
    List<Message> messages = fields.listRequired("messages", Requests::message);
    Map<String, @Nullable Object> metadata = fields.object("metadata");
    faults.throwIfAny();
    Pace pace = Pace.of(call.headers(), mode, waitSecondsMax);
    return new Submit(
        new Rollout.SubmitRequest(
            call.sessionId(),
            turnId,
            pace.async(),
            messages,
            TraceContext.into(metadata, call.headers())),
        pace);
  }

  private static Message message(Fields fields) {
    return new Message(
        fields.oneOfRequired("role", ROLES),
        fields.textIfAny("content").orElse(null),
        fields.textIfAny("reasoning_content").orElse(null),
        fields.listIfAny("tool_calls", Requests::toolCall).orElse(null),
        fields.textIfAny("tool_call_id").orElse(null),
        fields.textIfAny("name").orElse(null));
  }

  private static Message.ToolCall toolCall(Fields fields) {
    String id = fields.text("id");
    String type = fields.oneOf("type", List.of("function")).orElse("function");
    Fields function = fields.nestedRequired("function");
    return new Message.ToolCall(
        id, type, new Message.Function(function.text("name"), function.text("arguments")));
  }

  static Execute execute(Call call, int waitSecondsMax) {
    Faults faults = new Faults();
    Fields fields = call.body().required(faults);
    String command = fields.text("cmd");
    Optional<Double> timeoutSeconds = limit(fields, "timeout");
    String field = "command_id";
    Optional<String> commandId =
        IdempotencyKey.orField(call.headers(), field, fields.textIfAny(field), faults);
    Optional<String> mode = fields.oneOf("mode", MODES);
    faults.throwIfAny();
    return new Execute(
        new Rollout.ExecuteRequest(call.sessionId(), commandId, command, timeoutSeconds),
        Pace.of(call.headers(), mode, waitSecondsMax));
  }

  /**
   * @param timeoutSeconds over 0
   */
  record Pause(String reason, Optional<Double> timeoutSeconds) {}

  static Pause pause(Body body) {
    Faults faults = new Faults();
    Fields fields = body.optional(faults);
    String reason = fields.text("reason", WEIGHT_UPDATE);
    Optional<Double> timeoutSeconds = limit(fields, "timeout_seconds");
    faults.throwIfAny();
    return new Pause(reason, timeoutSeconds);
  }

  /**
   * @param version of the weights that the engine has now
   */
  record Resume(String reason, Optional<String> version) {}

  static Resume resume(Body body) {
    Faults faults = new Faults();
    Fields fields = body.optional(faults);
    String reason = fields.text("reason", WEIGHT_UPDATE);
    Optional<String> version = fields.textIfAny("version");
    faults.throwIfAny();
    return new Resume(reason, version);
  }

  private static Optional<Double> limit(Fields fields, String name) {
    return fields
        .number(name, Fields.Range.OVER_0)
        .map(seconds -> Math.min(seconds, LIMIT_SECONDS_MAX));
  }
}
