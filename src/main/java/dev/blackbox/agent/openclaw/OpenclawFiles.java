package dev.blackbox.agent.openclaw;

import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.CliEnvironment;
import dev.blackbox.agent.IndentedJson;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.kernel.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that OpenClaw reads at its start: directories, configuration, prompt, our plugin, and
 * its environment. Source of the layout: reference server, section 4.2. Source of the
 * configuration: the schema of OpenClaw 2026.9.6, which refuses what the reference server wrote,
 * and runs of it without any network.
 */
final class OpenclawFiles {

  /** Source: reference server, section 4.2. */
  private static final String POLICY_MARKER = "<!-- blackbox-server-deny-question -->";

  private static final String POLICY =
      POLICY_MARKER
          + "\n## Working without a user\n\n"
          + "- Do not ask the user questions during this rollout.\n"
          + "- Do not wait for confirmation or for anything from outside.\n"
          + "- Where information is missing, choose a sensible default and go on.\n";

  /** Switches off what reaches for the network, restarts itself, or works without being asked. */
  private static final List<String> SWITCHES =
      List.of(
          "OPENCLAW_OFFLINE",
          "OPENCLAW_NO_AUTO_UPDATE",
          "OPENCLAW_DISABLE_BONJOUR",
          "OPENCLAW_NO_RESPAWN",
          "OPENCLAW_SKIP_CHANNELS",
          "OPENCLAW_SKIP_CRON",
          "NO_COLOR");

  private static final String PLUGIN = "bbs-recorder";

  private static final List<String> PLUGIN_FILES =
      List.of("index.js", "package.json", "openclaw.plugin.json");

  private static final String TOKEN_VARIABLE = "OPENCLAW_GATEWAY_TOKEN";

  /** Source of the name: reference server, section 4.3. */
  private static final String MODEL_KEY_VARIABLE = "SGLANG_API_KEY";

  /** A turn has no limit of the agent's own: the turn engine ends it. */
  private static final int TURN_SECONDS_MAX = 30 * 24 * 3_600;

  private static final int LOG_BYTES_MAX = 16 << 20;

  private static final int LOGS_KEPT = 2;

  private final OpenclawOptions options;
  private final AgentSlot slot;
  private final Path root;
  private final Path home;

  OpenclawFiles(OpenclawOptions options, AgentSlot slot) {
    this.options = options;
    this.slot = slot;
    this.root = slot.runtimeDirectory();
    this.home = root.resolve("home");
  }

  /** Writes all files; those of an earlier boot are replaced, what OpenClaw stored itself stays. */
  void prepare() throws IOException {
    for (String directory :
        List.of(
            "home/.openclaw",
            "home/.config",
            "home/.cache",
            "home/.local/share",
            "home/.local/state",
            "logs",
            "run/openclaw-plugin",
            "tmp",
            "workspace")) {
      RuntimeFiles.directory(root.resolve(directory));
    }
    linkWorkspace();
    RuntimeFiles.write(slot.workspace().resolve("AGENTS.md"), prompt());
    for (String name : List.of("SOUL.md", "TOOLS.md", "USER.md", "IDENTITY.md")) {
      Path file = slot.workspace().resolve(name);
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        RuntimeFiles.write(file, "");
      }
    }
    for (String name : PLUGIN_FILES) {
      RuntimeFiles.write(plugin().resolve(name), resource(name));
    }
    RuntimeFiles.write(configurationFile(), IndentedJson.of(configuration()));
    RuntimeFiles.write(
        root.resolve("run/proxy.port"), Integer.toString(slot.modelBase().getPort()));
    Files.deleteIfExists(turn());
    makeRecord();
  }

  /** Where the reference server put the workspace; the real one is that of every backend. */
  private void linkWorkspace() throws IOException {
    Path link = home.resolve(".openclaw/workspace");
    if (!Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
      Files.createSymbolicLink(link, Path.of("../../workspace"));
    }
  }

  private String prompt() {
    String given = slot.systemPrompt().orElse("").stripTrailing();
    if (given.contains(POLICY_MARKER)) {
      return given + "\n";
    }
    return given.isEmpty() ? POLICY : given + "\n\n" + POLICY;
  }

  private static String resource(String name) throws IOException {
    String path = "/agent/openclaw/" + name;
    try (InputStream bytes = OpenclawFiles.class.getResourceAsStream(path)) {
      if (bytes == null) {
        throw new IOException(path + " is missing from the program");
      }
      return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Puts a record aside that has grown beyond its bound. Not while a turn runs. */
  void makeRecord() throws IOException {
    RuntimeFiles.rotateIfLargerThan(record(), LOG_BYTES_MAX, LOGS_KEPT);
    if (!Files.exists(record())) {
      RuntimeFiles.write(record(), "");
    }
    for (Path log : List.of(stdoutLog(), stderrLog())) {
      RuntimeFiles.emptyIfLargerThan(log, LOG_BYTES_MAX);
    }
  }

  Map<String, Object> configuration() {
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("gateway", gateway());
    config.put("agents", agents());
    config.put(
        "models", Map.of("mode", "replace", "providers", providers(), "catalogRefresh", OFF));
    config.put("plugins", plugins());
    config.put("tools", tools());
    // neither /new nor a time of the day may begin another conversation
    config.put(
        "session",
        Map.of(
            "notifyOnCreate", false, "resetTriggers", List.of(), "reset", Map.of("mode", "none")));
    config.put("commands", flags("native", "nativeSkills", "text", "restart"));
    config.put("skills", Map.of("allowBundled", List.of(), "load", Map.of("watch", false)));
    config.put("update", Map.of("checkOnStart", false));
    config.put("discovery", Map.of("mdns", Map.of("mode", "off")));
    config.put("memory", Map.of("search", OFF));
    for (String part : List.of("telemetry", "browser", "cron", "transcripts")) {
      config.put(part, OFF);
    }
    config.put("logging", logging());
    return config;
  }

  private static final Map<String, Object> OFF = Map.of("enabled", false);

  private static Map<String, Object> flags(String... names) {
    Map<String, Object> flags = new LinkedHashMap<>();
    for (String name : names) {
      flags.put(name, false);
    }
    return flags;
  }

  private static Map<String, Object> gateway() {
    Map<String, Object> gateway = new LinkedHashMap<>();
    gateway.put("mode", "local");
    gateway.put("bind", "loopback");
    gateway.put("auth", Map.of("mode", "token", "token", "${" + TOKEN_VARIABLE + "}"));
    gateway.put("http", Map.of("endpoints", Map.of("chatCompletions", Map.of("enabled", true))));
    gateway.put("reload", Map.of("mode", "off"));
    for (String part : List.of("controlUi", "cliAgents", "terminal")) {
      gateway.put(part, OFF);
    }
    return gateway;
  }

  private Map<String, Object> agents() {
    Map<String, Object> compaction = new LinkedHashMap<>();
    compaction.put("mode", "safeguard");
    compaction.put("midTurnPrecheck", Map.of("enabled", true));
    compaction.put("notifyUser", false);
    compaction.put("memoryFlush", OFF);
    compaction.putAll(options.compaction());
    Map<String, Object> defaults = new LinkedHashMap<>();
    defaults.put("workspace", slot.workspace().toString());
    defaults.put("model", Map.of("primary", options.model()));
    defaults.put("models", Map.of(options.model(), Map.of("alias", options.modelName())));
    defaults.put("compaction", compaction);
    defaults.put("skipBootstrap", true);
    defaults.put("heartbeat", Map.of("every", "0m"));
    defaults.put("skills", List.of());
    defaults.put("startupContext", OFF);
    defaults.put("timeoutSeconds", TURN_SECONDS_MAX);
    defaults.put("userTimezone", "UTC");
    Map<String, Object> agents = new LinkedHashMap<>();
    agents.put("defaults", defaults);
    if (!options.agentId().equals(OpenclawOptions.DEFAULT_AGENT)) {
      agents.put(
          "entries", Map.of(options.agentId(), Map.of("workspace", slot.workspace().toString())));
    }
    return agents;
  }

  private Map<String, Object> providers() {
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("id", options.modelId());
    model.put("name", options.modelName());
    model.put("reasoning", true);
    model.put("compat", compatibility());
    model.put("input", List.of("text"));
    model.put("cost", Map.of("input", 0, "output", 0, "cacheRead", 0, "cacheWrite", 0));
    model.put("maxTokens", options.maxTokens());
    options.contextWindow().ifPresent(tokens -> model.put("contextWindow", tokens));
    Map<String, Object> provider = new LinkedHashMap<>();
    provider.put("baseUrl", slot.modelBase().toString());
    provider.put("apiKey", "${" + MODEL_KEY_VARIABLE + "}");
    provider.put("api", "openai-completions");
    provider.put("timeoutSeconds", Math.max(1, slot.modelTimeout().toSeconds()));
    provider.put("models", List.of(model));
    return Map.of(options.providerId(), provider);
  }

  private static Map<String, Object> compatibility() {
    Map<String, Object> compatibility = new LinkedHashMap<>();
    compatibility.put("thinkingFormat", "deepseek");
    compatibility.put("supportsReasoningEffort", false);
    compatibility.put("maxTokensField", "max_tokens");
    compatibility.put("supportsStore", false);
    compatibility.put("requiresStringContent", true);
    return compatibility;
  }

  private Map<String, Object> plugins() {
    Map<String, Object> recorder = new LinkedHashMap<>();
    recorder.put("enabled", true);
    recorder.put("hooks", Map.of("allowConversationAccess", true));
    recorder.put("config", Map.of("record", record().toString(), "turn", turn().toString()));
    Map<String, Object> plugins = new LinkedHashMap<>();
    plugins.put("enabled", true);
    plugins.put("allow", List.of(PLUGIN));
    plugins.put("slots", Map.of("memory", "none"));
    plugins.put("load", Map.of("paths", List.of(plugin().toString())));
    plugins.put("entries", Map.of(PLUGIN, recorder));
    return plugins;
  }

  /**
   * Files and a shell. Without the tool "process" every command runs in the foreground, so that a
   * turn leaves nothing behind; nobody is there to approve a command.
   */
  private static Map<String, Object> tools() {
    Map<String, Object> tools = new LinkedHashMap<>();
    tools.put("allow", List.of("read", "write", "edit", "exec"));
    tools.putAll(flags("toolSearch", "codeMode", "updatePlan"));
    tools.put("exec", Map.of("host", "gateway", "mode", "full", "notifyOnExit", false));
    tools.put("web", Map.of("search", OFF, "fetch", OFF));
    return tools;
  }

  private Map<String, Object> logging() {
    Map<String, Object> logging = new LinkedHashMap<>();
    logging.put("file", root.resolve("logs/openclaw.log").toString());
    logging.put("maxFileBytes", LOG_BYTES_MAX);
    logging.put("level", "warn");
    // It would also change what tools read, so that the model sees, and writes back, stars.
    logging.put("redactPatterns", List.of("(?!)"));
    return logging;
  }

  Map<String, String> environment(Map<String, String> ours, String searchPath, Secret token) {
    Map<String, String> environment = CliEnvironment.of(ours, root);
    SWITCHES.forEach(name -> environment.put(name, "1"));
    environment.put("OPENCLAW_EXEC_SHELL_SNAPSHOT", "0");
    environment.put("PATH", searchPath);
    environment.put("OPENCLAW_HOME", home.toString());
    environment.put("OPENCLAW_STATE_DIR", home.resolve(".openclaw").toString());
    environment.put("OPENCLAW_CONFIG_PATH", configurationFile().toString());
    environment.put(TOKEN_VARIABLE, token.reveal());
    environment.put(MODEL_KEY_VARIABLE, slot.modelKey().reveal());
    return environment;
  }

  private Path configurationFile() {
    return home.resolve(".openclaw/openclaw.json");
  }

  private Path plugin() {
    return root.resolve("run/openclaw-plugin");
  }

  /** What our plugin writes down. */
  Path record() {
    return root.resolve("logs/openclaw.record.jsonl");
  }

  /** Exists while a turn runs; without it our plugin lets no run begin. */
  Path turn() {
    return root.resolve("run/openclaw.turn");
  }

  /** Holds the id that OpenClaw itself gave to the conversation. */
  Path session() {
    return root.resolve("run/openclaw.session");
  }

  Path stdoutLog() {
    return root.resolve("logs/openclaw.stdout.log");
  }

  Path stderrLog() {
    return root.resolve("logs/openclaw.stderr.log");
  }

  /** Where OpenClaw stores its conversations. */
  Path store() {
    return home.resolve(".openclaw/agents");
  }

  void recordRunning(int port, long pid) throws IOException {
    RuntimeFiles.write(root.resolve("run/openclaw.port"), Integer.toString(port));
    RuntimeFiles.write(root.resolve("run/openclaw.pid"), Long.toString(pid));
  }
}
