package dev.blackbox.agent.opencode;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.CliEnvironment;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.Secret;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that opencode reads at its start: directories, configuration and environment. Source
 * of the layout and of the configuration: reference server, section 3.2. Source of the variables
 * that keep it off the network: runs of opencode 1.18.33 without any.
 */
final class OpencodeFiles {

  /** Holds the model key; the configuration names only the variable. */
  private static final String MODEL_KEY_VARIABLE = "BBS_MODEL_KEY";

  /** Switches off what reaches for the network, for the user's own settings, or for a human. */
  private static final List<String> SWITCHES =
      List.of(
          "OPENCODE_DISABLE_PROJECT_CONFIG",
          "OPENCODE_DISABLE_MODELS_FETCH",
          "OPENCODE_DISABLE_AUTOUPDATE",
          "OPENCODE_DISABLE_SHARE",
          "OPENCODE_DISABLE_LSP_DOWNLOAD",
          "OPENCODE_DISABLE_DEFAULT_PLUGINS",
          "OPENCODE_PURE",
          "OPENCODE_DISABLE_EMBEDDED_WEB_UI",
          "OPENCODE_DISABLE_CLAUDE_CODE",
          "OPENCODE_DISABLE_EXTERNAL_SKILLS");

  private final OpencodeOptions options;
  private final String version;
  private final AgentSlot slot;
  private final Path root;
  private final Path configuration;

  OpencodeFiles(OpencodeOptions options, String version, AgentSlot slot) {
    this.options = options;
    this.version = version;
    this.slot = slot;
    this.root = slot.runtimeDirectory();
    this.configuration = root.resolve("home/.config/opencode");
  }

  /** Writes all files; those of an earlier boot are replaced, what opencode stored itself stays. */
  void prepare() throws IOException {
    for (String directory :
        List.of(
            "home/.config/opencode/prompts",
            "home/.config/opencode/node_modules",
            "home/.cache",
            "home/.local/share",
            "home/.local/state",
            "logs",
            "run",
            "tmp",
            "workspace")) {
      RuntimeFiles.directory(root.resolve(directory));
    }
    Path prompt = root.resolve(OpencodeBackend.SYSTEM_PROMPT_FILE);
    if (slot.systemPrompt().isPresent()) {
      RuntimeFiles.write(prompt, slot.systemPrompt().get());
    } else {
      Files.deleteIfExists(prompt);
    }
    RuntimeFiles.write(configuration.resolve("opencode.json"), Json.write(configuration()));
    RuntimeFiles.write(models(), "{}");
    RuntimeFiles.write(
        root.resolve("run/proxy.port"), Integer.toString(slot.modelBase().getPort()));
    seedPlugins();
  }

  /**
   * opencode installs its plugin package from the npm registry into each configuration directory
   * that does not look as if that were done.
   */
  private void seedPlugins() throws IOException {
    Map<String, Object> dependencies =
        Map.of("dependencies", Map.of("@opencode-ai/plugin", version));
    RuntimeFiles.write(configuration.resolve("package.json"), Json.write(dependencies));
    Map<String, Object> lock = new LinkedHashMap<>();
    lock.put("name", "opencode");
    lock.put("lockfileVersion", 3);
    lock.put("requires", true);
    lock.put("packages", Map.of("", dependencies));
    RuntimeFiles.write(configuration.resolve("package-lock.json"), Json.write(lock));
  }

  /** An empty model catalogue: the built-in one costs seconds and is not used. */
  private Path models() {
    return root.resolve("home/.cache/models.json");
  }

  Map<String, Object> configuration() {
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("$schema", "https://opencode.ai/config.json");
    config.put("provider", Map.of(options.providerId(), provider()));
    String model = options.providerId() + "/" + options.modelId();
    config.put("model", model);
    config.put("small_model", model);
    config.put("enabled_providers", List.of(options.providerId()));
    config.put("autoupdate", false);
    config.put("share", "disabled");
    config.put("snapshot", false);
    config.put("lsp", false);
    config.put("formatter", false);
    // Nobody is there to answer a question, and a loop is ended by the step budget.
    Map<String, Object> permission = new LinkedHashMap<>();
    permission.put("*", "allow");
    permission.put("question", "deny");
    permission.put("doom_loop", "deny");
    config.put("permission", permission);
    options.compaction().ifPresent(compaction -> config.put("compaction", compaction));
    Map<String, Object> agent = new LinkedHashMap<>();
    agent.put("title", Map.of("disable", true));
    if (slot.systemPrompt().isPresent()) {
      agent.put("build", Map.of("prompt", "{file:./prompts/build.txt}"));
    }
    config.put("agent", agent);
    return config;
  }

  private Map<String, Object> provider() {
    Map<String, Object> connection = new LinkedHashMap<>();
    connection.put("baseURL", slot.modelBase().toString());
    connection.put("apiKey", "{env:" + MODEL_KEY_VARIABLE + "}");
    connection.put("timeout", slot.modelTimeout().toMillis());
    // Their defaults of five minutes would end calls that the proxy holds back during a pause.
    connection.put("headerTimeout", false);
    connection.put("chunkTimeout", false);
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("name", options.modelName());
    model.put("tools", true);
    options.modelLimit().ifPresent(limit -> model.put("limit", limit));
    Map<String, Object> provider = new LinkedHashMap<>();
    provider.put("npm", options.providerPackage());
    provider.put("name", options.providerName());
    provider.put("options", connection);
    provider.put("models", Map.of(options.modelId(), model));
    return provider;
  }

  /**
   * @param ours the server's own variables
   */
  Map<String, String> environment(Map<String, String> ours, Secret password) {
    Map<String, String> environment = CliEnvironment.of(ours, root);
    SWITCHES.forEach(name -> environment.put(name, "1"));
    if (!options.compactsAutomatically()) {
      // It would replace the answer of a turn by the answer to a question of its own.
      environment.put("OPENCODE_DISABLE_AUTOCOMPACT", "1");
    }
    environment.put("OPENCODE_MODELS_PATH", models().toString());
    environment.put("OPENCODE_SERVER_PASSWORD", password.reveal());
    environment.put(MODEL_KEY_VARIABLE, slot.modelKey().reveal());
    return environment;
  }

  Path stdoutLog() {
    return root.resolve("logs/opencode.stdout.log");
  }

  Path stderrLog() {
    return root.resolve("logs/opencode.stderr.log");
  }

  void recordRunning(int port, long pid) throws IOException {
    RuntimeFiles.write(root.resolve("run/opencode.port"), Integer.toString(port));
    RuntimeFiles.write(root.resolve("run/opencode.pid"), Long.toString(pid));
  }
}
