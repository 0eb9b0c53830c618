package dev.blackbox.agent.claude;

import dev.blackbox.agent.Options;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The options of Claude Code, checked. Names, types, defaults and bounds are those of the reference
 * server, section 5.1; {@code gateway.auth_token} is accepted and not used, since the agent gets
 * the key of its own proxy.
 */
record ClaudeOptions(
    Optional<String> executable,
    Optional<Path> workingDirectory,
    Model model,
    long turnsMax,
    String permissionMode,
    String settingSources,
    String systemPromptMode,
    Thinking thinking,
    Compaction compaction,
    boolean disablePromptCaching,
    boolean disableNonessentialTraffic,
    boolean subagents) {

  static final String BYPASS_PERMISSIONS = "bypassPermissions";

  private static final List<String> PERMISSION_MODES =
      List.of("acceptEdits", "auto", BYPASS_PERMISSIONS, "default", "dontAsk", "plan");
  private static final List<String> PROMPT_MODES =
      List.of("append", "replace", "claude_md", "none");
  private static final List<String> CAPABILITIES =
      List.of("thinking", "adaptive_thinking", "interleaved_thinking");
  private static final long TURNS_MAX_DEFAULT = 20;
  private static final long PERCENT_MAX = 100;

  record Model(String id, String name, List<String> capabilities) {}

  record Thinking(boolean enabled, boolean interleaved, OptionalLong budgetTokens) {}

  record Compaction(boolean auto, OptionalLong percent) {}

  /**
   * @throws dev.blackbox.kernel.Problem {@code request_error} that lists all faults
   */
  static ClaudeOptions parse(Map<String, @Nullable Object> raw) {
    Options options = Options.of(ClaudeBackend.TYPE, raw);
    Optional<String> executable = options.text("executable", 0);
    Optional<Path> directory = workingDirectory(options);
    Model model = model(options.section("model"));
    long turnsMax = options.integer("max_turns", TURNS_MAX_DEFAULT, 1);
    String permissionMode = options.choice("permission_mode", "default", PERMISSION_MODES);
    String settingSources = options.string("setting_sources", "user", 0);
    String promptMode = options.choice("system_prompt_mode", "append", PROMPT_MODES);
    options.section("gateway").string("auth_token", "", 0);
    Options thinking = options.section("thinking");
    Thinking thoughts =
        new Thinking(
            thinking.flag("enabled", true),
            thinking.flag("interleaved", true),
            thinking.integer("budget_tokens", 1));
    Compaction compaction = compaction(options.section("compaction"));
    Options compat = options.section("compat");
    ClaudeOptions parsed =
        new ClaudeOptions(
            executable.filter(value -> !value.isEmpty()),
            directory,
            model,
            turnsMax,
            permissionMode,
            settingSources,
            promptMode,
            thoughts,
            compaction,
            compat.flag("disable_prompt_caching", true),
            compat.flag("disable_nonessential_traffic", true),
            options.section("subagents").flag("enabled", false));
    options.finish();
    return parsed;
  }

  private static Model model(Options model) {
    return new Model(
        model.string("id", "proxy-model", 1),
        model.string("name", "Dressage Proxy", 1),
        model.strings("supported_capabilities", CAPABILITIES));
  }

  private static Compaction compaction(Options compaction) {
    boolean auto = compaction.flag("auto", true);
    String name = "auto_compact_pct_override";
    OptionalLong percent = compaction.integer(name, 1);
    compaction.require(
        percent.orElse(1) <= PERCENT_MAX, name, "must be at most 100, is " + percent.orElse(0));
    return new Compaction(auto, percent);
  }

  /** Checked here, so that a typing error is not found by the first turn. */
  private static Optional<Path> workingDirectory(Options options) {
    String name = "working_directory";
    Optional<String> given = options.text(name, 0).filter(value -> !value.isEmpty());
    if (given.isEmpty()) {
      return Optional.empty();
    }
    try {
      Path directory = Path.of(given.get()).toAbsolutePath();
      options.require(Files.isDirectory(directory), name, "must be a directory that exists");
      return Optional.of(directory);
    } catch (InvalidPathException noPath) {
      options.require(false, name, "must be a directory that exists");
      return Optional.empty();
    }
  }
}
