package dev.blackbox.agent.codex;

import dev.blackbox.agent.Options;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The options of Codex, checked. Names, types, defaults and bounds are those of the reference
 * server, section 6.1.
 *
 * @param multiAgent what the caller gave of {@code features.multi_agent_v2}, in the order of the
 *     configuration
 * @param agents what the caller gave of {@code agents}, without its roles
 * @param roles by name, in the caller's order
 */
record CodexOptions(
    Optional<String> executable,
    String modelId,
    String modelName,
    String providerId,
    String sandboxMode,
    String approvalPolicy,
    boolean skipGitRepoCheck,
    boolean ignoreRules,
    String webSearch,
    Map<String, Object> multiAgent,
    Map<String, Object> agents,
    Map<String, Role> roles) {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+");
  private static final int NAMESPACE_LENGTH_MAX = 64;

  /** A kind of sub-agent. */
  record Role(String description, Optional<String> instructions, List<String> nicknameCandidates) {}

  /**
   * @throws dev.blackbox.kernel.Problem {@code request_error} that lists all faults
   */
  static CodexOptions parse(Map<String, @Nullable Object> raw) {
    Options options = Options.of(CodexBackend.TYPE, raw);
    Options model = options.section("model");
    Options agents = options.section("agents");
    Map<String, Object> multiAgent =
        options
            .section("features")
            .object("multi_agent_v2")
            .map(CodexOptions::multiAgent)
            .orElse(Map.of());
    CodexOptions parsed =
        new CodexOptions(
            options.text("executable", 0).filter(value -> !value.isEmpty()),
            model.string("id", "proxy-model", 1),
            model.string("name", "Dressage Proxy", 1),
            name(options, "model_provider_id", "dressage_proxy"),
            options.choice(
                "sandbox_mode",
                "danger-full-access",
                List.of("read-only", "workspace-write", "danger-full-access")),
            options.choice("approval_policy", "never", List.of("untrusted", "on-request", "never")),
            options.flag("skip_git_repo_check", true),
            options.flag("ignore_rules", true),
            options.choice("web_search", "disabled", List.of("disabled", "cached", "live")),
            multiAgent,
            limits(agents),
            roles(agents));
    agents.require(
        !(Boolean.TRUE.equals(multiAgent.get("enabled"))
            && parsed.agents().containsKey("max_threads")),
        "max_threads",
        "cannot be set while features.multi_agent_v2.enabled is true; use"
            + " features.multi_agent_v2.max_concurrent_threads_per_session");
    options.finish();
    return parsed;
  }

  boolean hasMultiAgent() {
    return Boolean.TRUE.equals(multiAgent.get("enabled"));
  }

  private static String name(Options options, String option, String otherwise) {
    String name = options.string(option, otherwise, 1);
    options.require(
        name.isEmpty() || NAME.matcher(name).matches(),
        option,
        "must consist of letters, digits, underscores and hyphens");
    return name;
  }

  private static Map<String, Object> multiAgent(Options given) {
    Map<String, Object> feature = new LinkedHashMap<>();
    given.flag("enabled").ifPresent(value -> feature.put("enabled", value));
    put(feature, given, "max_concurrent_threads_per_session");
    for (String flag : List.of("non_code_mode_only", "hide_spawn_agent_metadata")) {
      given.flag(flag).ifPresent(value -> feature.put(flag, value));
    }
    given
        .text("tool_namespace", 1)
        .ifPresent(
            namespace -> {
              given.require(
                  namespace.isEmpty()
                      || (namespace.length() <= NAMESPACE_LENGTH_MAX
                          && NAME.matcher(namespace).matches()),
                  "tool_namespace",
                  "must be at most "
                      + NAMESPACE_LENGTH_MAX
                      + " letters, digits, underscores and hyphens");
              feature.put("tool_namespace", namespace);
            });
    return feature;
  }

  private static Map<String, Object> limits(Options given) {
    Map<String, Object> limits = new LinkedHashMap<>();
    for (String limit : List.of("max_threads", "max_depth", "job_max_runtime_seconds")) {
      put(limits, given, limit);
    }
    given.flag("interrupt_message").ifPresent(value -> limits.put("interrupt_message", value));
    return limits;
  }

  private static void put(Map<String, Object> to, Options given, String name) {
    OptionalLong value = given.integer(name, 1);
    value.ifPresent(number -> to.put(name, number));
  }

  private static Map<String, Role> roles(Options agents) {
    Map<String, Role> roles = new LinkedHashMap<>();
    agents
        .sections("roles")
        .forEach(
            (name, role) -> {
              agents.require(
                  NAME.matcher(name).matches(),
                  "roles",
                  "agent role names must consist of letters, digits, underscores and hyphens");
              String description = role.requiredString("description");
              role.require(!description.isEmpty(), "description", "must not be empty");
              roles.put(
                  name,
                  new Role(
                      description,
                      role.text("developer_instructions", 1),
                      role.strings("nickname_candidates", List.of())));
            });
    return roles;
  }
}
