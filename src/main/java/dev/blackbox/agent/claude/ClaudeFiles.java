package dev.blackbox.agent.claude;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.CliEnvironment;
import dev.blackbox.agent.IndentedJson;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that Claude Code reads at its start: directories, settings and environment. Source of
 * the layout and the settings: reference server, sections 5.2 and 5.3. Source of the further
 * variables: runs of Claude Code 2.1.332 without any network.
 */
final class ClaudeFiles {

  /** Order as in the reference server. */
  private static final List<String> ALLOWED_TOOLS =
      List.of(
          "Bash(*)",
          "Read(*)",
          "Edit(*)",
          "Write(*)",
          "WebSearch",
          "WebFetch",
          "Glob",
          "Grep",
          "LS",
          "NotebookRead",
          "NotebookEdit",
          "TodoWrite",
          "Task");

  /**
   * Retries of its own after failed model calls; each one costs a step of the turn, and the default
   * of ten lasts three minutes.
   */
  private static final String RETRIES_MAX = "2";

  private final AgentSlot slot;
  private final ClaudeOptions options;
  private final Map<String, String> ours;
  private final Path root;
  private final Path home;

  /**
   * @param ours the server's own variables
   */
  ClaudeFiles(AgentSlot slot, ClaudeOptions options, Map<String, String> ours) {
    this.slot = slot;
    this.options = options;
    this.ours = ours;
    this.root = slot.runtimeDirectory();
    this.home = root.resolve("home");
  }

  Path settings() {
    return home.resolve(".claude/settings.json");
  }

  Path systemPrompt() {
    return root.resolve(ClaudeBackend.SYSTEM_PROMPT_FILE);
  }

  void prepare() throws IOException {
    for (String directory : List.of("home/.claude", "workspace", "logs", "run", "tmp", "prompts")) {
      RuntimeFiles.directory(root.resolve(directory));
    }
    writePrompt();
    RuntimeFiles.write(settings(), IndentedJson.of(settingsContent()));
    RuntimeFiles.write(root.resolve("run/claude_code.settings"), settings().toString());
    RuntimeFiles.write(
        root.resolve("run/proxy.port"), Integer.toString(slot.modelBase().getPort()));
  }

  private void writePrompt() throws IOException {
    if (slot.systemPrompt().isEmpty()) {
      Files.deleteIfExists(systemPrompt());
      return;
    }
    RuntimeFiles.write(systemPrompt(), slot.systemPrompt().get());
    if (options.systemPromptMode().equals("claude_md")) {
      // where the agent looks for it: with another directory, not in the workspace of ours
      Path directory = options.workingDirectory().orElse(slot.workspace());
      RuntimeFiles.write(directory.resolve("CLAUDE.md"), slot.systemPrompt().get());
    }
  }

  private Map<String, Object> settingsContent() {
    Map<String, Object> permissions = new LinkedHashMap<>();
    permissions.put("allow", ALLOWED_TOOLS);
    permissions.put("deny", options.subagents() ? List.of() : List.of("Agent"));
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("autoCompactEnabled", options.compaction().auto());
    settings.put("permissions", permissions);
    settings.put("env", switches());
    return settings;
  }

  private Map<String, String> switches() {
    Map<String, String> switches = new LinkedHashMap<>();
    if (options.disablePromptCaching()) {
      switches.put("DISABLE_PROMPT_CACHING", "1");
    }
    if (options.disableNonessentialTraffic()) {
      switches.put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    }
    ClaudeOptions.Thinking thinking = options.thinking();
    if (!thinking.enabled()) {
      switches.put("CLAUDE_CODE_DISABLE_THINKING", "1");
      switches.put("MAX_THINKING_TOKENS", "0");
    } else {
      thinking
          .budgetTokens()
          .ifPresent(tokens -> switches.put("MAX_THINKING_TOKENS", Long.toString(tokens)));
    }
    if (!thinking.interleaved()) {
      switches.put("DISABLE_INTERLEAVED_THINKING", "1");
    }
    options
        .compaction()
        .percent()
        .ifPresent(
            percent -> switches.put("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", Long.toString(percent)));
    return switches;
  }

  Map<String, String> environment(Secret modelKey) {
    Map<String, String> environment = CliEnvironment.of(ours, root);
    environment.putAll(switches());
    environment.put("CLAUDE_CONFIG_DIR", home.resolve(".claude").toString());
    environment.put("CLAUDE_CODE_TMPDIR", root.resolve("tmp").toString());
    environment.put(
        "ANTHROPIC_BASE_URL",
        "http://" + slot.modelBase().getHost() + ":" + slot.modelBase().getPort());
    environment.put("ANTHROPIC_AUTH_TOKEN", modelKey.reveal());
    ClaudeOptions.Model model = options.model();
    environment.put("ANTHROPIC_CUSTOM_MODEL_OPTION", model.id());
    environment.put("ANTHROPIC_CUSTOM_MODEL_OPTION_NAME", model.name());
    environment.put(
        "ANTHROPIC_CUSTOM_MODEL_OPTION_SUPPORTED_CAPABILITIES",
        String.join(",", model.capabilities()));
    environment.put("API_TIMEOUT_MS", Long.toString(slot.modelTimeout().toMillis()));
    environment.put("CLAUDE_CODE_MAX_RETRIES", RETRIES_MAX);
    for (String name :
        List.of(
            // off the network
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_BUG_COMMAND",
            // model calls besides those of the conversation, or a second time without streaming
            "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
            "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK",
            // commands that go on after the final event
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS")) {
      environment.put(name, "1");
    }
    // a line that changes with each call, and would make each prompt look new to the engine
    environment.put("CLAUDE_CODE_ATTRIBUTION_HEADER", "0");
    // tools by reference are unknown to models behind other interfaces
    environment.put("ENABLE_TOOL_SEARCH", "false");
    return environment;
  }
}
