package dev.blackbox.agent.openclaw;

import dev.blackbox.agent.Options;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The options of OpenClaw, checked. Names, types, defaults and bounds are those of the reference
 * server, section 4.1.
 *
 * @param contextWindow in tokens, only if the caller gave it: OpenClaw compacts by it
 * @param maxTokens longest answer that the model is said to be able to give
 * @param port of the gateway, if the caller chose one
 * @param token of the gateway, if the caller chose one; not empty
 * @param compaction settings of today's OpenClaw that the caller gave, with OpenClaw's names
 */
record OpenclawOptions(
    String agentId,
    String providerId,
    String modelId,
    String modelName,
    OptionalLong contextWindow,
    long maxTokens,
    OptionalInt port,
    Optional<String> token,
    List<String> extraArguments,
    Request request,
    Map<String, Object> compaction) {

  static final String DEFAULT_AGENT = "default";

  private static final int PORT_MAX = 65_535;

  /** Source: OpenClaw's own schema for the names of agents. */
  private static final Pattern AGENT = Pattern.compile("[a-z0-9_][a-z0-9_-]{0,63}");

  /** Sampling that the caller wants for every turn. */
  record Request(OptionalLong maxTokens, OptionalDouble temperature, OptionalDouble topP) {}

  /**
   * @throws dev.blackbox.kernel.Problem {@code request_error} that lists all faults
   */
  static OpenclawOptions parse(Map<String, @Nullable Object> raw) {
    Options options = Options.of(OpenclawBackend.TYPE, raw);
    String agent = options.string("agent_id", DEFAULT_AGENT, 0);
    options.require(
        agent.isEmpty() || AGENT.matcher(agent).matches(),
        "agent_id",
        "must have 1 to 64 of the characters a-z, 0-9, _ and -, and not begin with -");
    String modelId = options.requiredString("model_id");
    Options gateway = options.section("gateway");
    OptionalLong port = gateway.integer("port", 1);
    gateway.require(
        port.orElse(1) <= PORT_MAX, "port", "must be at most 65535, is " + port.orElse(0));
    long contextWindow = options.integer("context_window", 32_768, 1);
    options.string("api_key", "sglang-local", 0);
    OpenclawOptions parsed =
        new OpenclawOptions(
            agent.isEmpty() ? DEFAULT_AGENT : agent,
            options.string("provider_id", "sglang", 0),
            modelId,
            options.text("model_name", 0).orElse(modelId),
            raw.containsKey("context_window")
                ? OptionalLong.of(contextWindow)
                : OptionalLong.empty(),
            options.integer("max_tokens", 8_192, 1),
            port.isPresent() ? OptionalInt.of((int) port.getAsLong()) : OptionalInt.empty(),
            gateway.text("auth_token", 0).filter(token -> !token.isEmpty()),
            gateway.strings("extra_args", List.of()),
            request(options.section("request")),
            options.object("compaction").map(OpenclawOptions::compaction).orElse(Map.of()));
    options.finish();
    return parsed;
  }

  /** The model, as OpenClaw names it. */
  String model() {
    return providerId + "/" + modelId;
  }

  private static Request request(Options options) {
    OptionalDouble topP = options.number("top_p", 0);
    options.require(topP.orElse(0) <= 1, "top_p", "must be at most 1, is " + topP.orElse(0));
    return new Request(options.integer("max_tokens", 1), options.number("temperature", 0), topP);
  }

  private static Map<String, Object> compaction(Options options) {
    Map<String, Object> given = new LinkedHashMap<>();
    options
        .integer("timeout_seconds", 1)
        .ifPresent(seconds -> given.put("timeoutSeconds", seconds));
    // OpenClaw of today has no such settings any more: accepted, and without effect.
    options.integer("reserve_tokens", 1);
    options.integer("reserve_tokens_floor", 0);
    options
        .integer("keep_recent_tokens", 0)
        .ifPresent(
            tokens -> {
              if (tokens > 0) {
                given.put("keepRecentTokens", tokens);
              }
            });
    options.flag("notify_user").ifPresent(flag -> given.put("notifyUser", flag));
    options
        .integerOrText("max_active_transcript_bytes")
        .ifPresent(bytes -> given.put("maxActiveTranscriptBytes", bytes));
    options
        .optionalStrings("post_compaction_sections")
        .ifPresent(sections -> given.put("postCompactionSections", sections));
    options.text("model", 1).ifPresent(model -> given.put("model", model));
    return given;
  }
}
