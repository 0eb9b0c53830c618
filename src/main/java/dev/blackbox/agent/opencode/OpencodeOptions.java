package dev.blackbox.agent.opencode;

import dev.blackbox.agent.Options;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The options of opencode, checked. Names, types and bounds are those of the reference server,
 * section 3.1.
 *
 * @param modelLimit {@code context}, {@code output} and perhaps {@code input}, in tokens
 * @param compaction what the caller gave, without nulls; may be an empty object
 */
record OpencodeOptions(
    String providerId,
    String providerName,
    String providerPackage,
    String modelId,
    String modelName,
    Optional<Map<String, Object>> modelLimit,
    Optional<Map<String, Object>> compaction) {

  /**
   * @throws dev.blackbox.kernel.Problem {@code request_error} that lists all faults
   */
  static OpencodeOptions parse(Map<String, @Nullable Object> raw) {
    Options options = Options.of(OpencodeBackend.TYPE, raw);
    OpencodeOptions parsed =
        new OpencodeOptions(
            options.requiredString("provider_id"),
            options.requiredString("provider_name"),
            options.requiredString("provider_package"),
            options.requiredString("model_id"),
            options.requiredString("model_name"),
            options.object("model_limit").map(OpencodeOptions::modelLimit),
            options.object("compaction").map(OpencodeOptions::compaction));
    options.finish();
    return parsed;
  }

  boolean compactsAutomatically() {
    return compaction.map(given -> Boolean.TRUE.equals(given.get("auto"))).orElse(false);
  }

  private static Map<String, Object> modelLimit(Options options) {
    Map<String, Object> limit = new LinkedHashMap<>();
    limit.put("context", options.requiredInteger("context", 1));
    limit.put("output", options.requiredInteger("output", 1));
    options.integer("input", 1).ifPresent(input -> limit.put("input", input));
    return limit;
  }

  private static Map<String, Object> compaction(Options options) {
    Map<String, Object> given = new LinkedHashMap<>();
    for (String flag : new String[] {"auto", "prune"}) {
      options.flag(flag).ifPresent(value -> given.put(flag, value));
    }
    for (String count : new String[] {"tail_turns", "preserve_recent_tokens", "reserved"}) {
      options.integer(count, 0).ifPresent(value -> given.put(count, value));
    }
    return given;
  }
}
