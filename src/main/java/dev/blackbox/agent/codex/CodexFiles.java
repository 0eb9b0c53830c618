package dev.blackbox.agent.codex;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.CliEnvironment;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that Codex reads at its start: directories, configuration, roles and environment.
 * Source of the layout and of the configuration's first part: reference server, sections 6.2 and
 * 6.3. Source of the rest: runs of codex-cli 0.171.0 without any network.
 */
final class CodexFiles {

  /** Holds the model key; the configuration names only the variable. */
  private static final String MODEL_KEY_VARIABLE = "BBS_MODEL_KEY";

  /**
   * Retries of its own after failed model calls, of each of two kinds that multiply; each one costs
   * a step of the turn.
   */
  private static final int RETRIES_MAX = 2;

  /** Reach for the network, or wait for it without end. */
  private static final List<String> FEATURES_OFF =
      List.of("unbounded_connection_retries", "plugins", "remote_plugin", "apps", "hooks");

  private final AgentSlot slot;
  private final CodexOptions options;
  private final Map<String, String> ours;
  private final Path root;
  private final Path codexHome;

  /**
   * @param ours the server's own variables
   */
  CodexFiles(AgentSlot slot, CodexOptions options, Map<String, String> ours) {
    this.slot = slot;
    this.options = options;
    this.ours = ours;
    this.root = slot.runtimeDirectory();
    this.codexHome = root.resolve("home/.codex");
  }

  Path log() {
    return codexHome.resolve("log");
  }

  void prepare() throws IOException {
    for (String directory :
        List.of(
            "home/.codex/log",
            "home/.codex-sqlite",
            "workspace",
            "logs",
            "run",
            "tmp",
            "prompts")) {
      RuntimeFiles.directory(root.resolve(directory));
    }
    Path prompt = root.resolve(CodexBackend.SYSTEM_PROMPT_FILE);
    if (slot.systemPrompt().isPresent()) {
      RuntimeFiles.write(prompt, slot.systemPrompt().get());
    } else {
      Files.deleteIfExists(prompt);
    }
    Path config = codexHome.resolve("config.toml");
    RuntimeFiles.write(config, configuration());
    writeRoles();
    RuntimeFiles.write(root.resolve("run/codex.config"), config.toString());
    RuntimeFiles.write(
        root.resolve("run/proxy.port"), Integer.toString(slot.modelBase().getPort()));
  }

  private void writeRoles() throws IOException {
    Map<String, CodexOptions.Role> roles = new LinkedHashMap<>(options.roles());
    if (options.hasMultiAgent()) {
      roles.putIfAbsent(CodexRoles.DEFAULT, CodexRoles.defaultRole());
    }
    for (Map.Entry<String, CodexOptions.Role> role : roles.entrySet()) {
      Path directory = RuntimeFiles.directory(codexHome.resolve("agents"));
      RuntimeFiles.write(
          directory.resolve(role.getKey() + ".toml"),
          CodexRoles.file(role.getKey(), role.getValue()));
    }
  }

  private String configuration() {
    Map<String, Object> top = new LinkedHashMap<>();
    top.put("model", options.modelId());
    top.put("model_provider", options.providerId());
    top.put("approval_policy", options.approvalPolicy());
    top.put("sandbox_mode", options.sandboxMode());
    top.put("web_search", options.webSearch());
    top.put("check_for_update_on_startup", false);
    top.put("cli_auth_credentials_store", "file");
    Toml toml = new Toml().keys(top);
    slot.systemPrompt().ifPresent(text -> toml.keys(Map.of("developer_instructions", text)));
    if (!options.multiAgent().isEmpty()) {
      toml.table("features.multi_agent_v2", options.multiAgent());
    }
    if (!options.agents().isEmpty()) {
      toml.table("agents", options.agents());
    }
    toml.table("analytics", Map.of("enabled", false));
    toml.table("feedback", Map.of("enabled", false));
    toml.table("model_providers." + options.providerId(), provider());
    Map<String, Object> features = new LinkedHashMap<>();
    FEATURES_OFF.forEach(feature -> features.put(feature, false));
    toml.table("features", features);
    // Its shell commands need not know the key of the proxy.
    toml.table("shell_environment_policy", Map.of("exclude", List.of(MODEL_KEY_VARIABLE)));
    return toml.toString();
  }

  private Map<String, Object> provider() {
    Map<String, Object> provider = new LinkedHashMap<>();
    provider.put("name", options.modelName());
    provider.put(
        "base_url",
        "http://" + slot.modelBase().getHost() + ":" + slot.modelBase().getPort() + "/v1");
    provider.put("wire_api", "responses");
    provider.put("env_key", MODEL_KEY_VARIABLE);
    provider.put("request_max_retries", RETRIES_MAX);
    provider.put("stream_max_retries", RETRIES_MAX);
    provider.put("stream_idle_timeout_ms", slot.modelTimeout().toMillis());
    return provider;
  }

  Map<String, String> environment(Secret modelKey) {
    Map<String, String> environment = CliEnvironment.of(ours, root);
    environment.put("CODEX_HOME", codexHome.toString());
    environment.put("CODEX_SQLITE_HOME", root.resolve("home/.codex-sqlite").toString());
    environment.put("RUST_LOG", ours.getOrDefault("RUST_LOG", "error"));
    environment.put(MODEL_KEY_VARIABLE, modelKey.reveal());
    return environment;
  }
}
