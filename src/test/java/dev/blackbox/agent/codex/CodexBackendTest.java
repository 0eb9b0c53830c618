package dev.blackbox.agent.codex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.StandIn;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Options, files, environment and arguments. */
class CodexBackendTest {

  @TempDir Path directory;
  @TempDir Path programs;

  private CodexRig rig;

  @BeforeEach
  void open() throws Exception {
    rig = new CodexRig(directory, programs);
    rig.standIn.does(StandIn.print(CodexRig.STARTED, CodexRig.ANSWER, CodexRig.COMPLETED));
  }

  @AfterEach
  void nothingIsLeft() {
    rig.close();
  }

  private String config() throws Exception {
    return Files.readString(directory.resolve("home/.codex/config.toml"));
  }

  @Test
  void theConfigurationBeginsAsInTheReference() throws Exception {
    try (Agent _ = rig.start(Map.of())) {
      assertThat(config())
          .isEqualTo(
              """
              model = "proxy-model"
              model_provider = "dressage_proxy"
              approval_policy = "never"
              sandbox_mode = "danger-full-access"
              web_search = "disabled"
              check_for_update_on_startup = false
              cli_auth_credentials_store = "file"

              [analytics]
              enabled = false

              [feedback]
              enabled = false

              [model_providers.dressage_proxy]
              name = "Dressage Proxy"
              base_url = "http://127.0.0.1:4321/v1"
              wire_api = "responses"
              env_key = "BBS_MODEL_KEY"
              request_max_retries = 2
              stream_max_retries = 2
              stream_idle_timeout_ms = 600000

              [features]
              unbounded_connection_retries = false
              plugins = false
              remote_plugin = false
              apps = false
              hooks = false

              [shell_environment_policy]
              exclude = ["BBS_MODEL_KEY"]
              """);
      assertThat(directory.resolve("run/codex.config"))
          .hasContent(directory.resolve("home/.codex/config.toml").toString());
      assertThat(directory.resolve("run/proxy.port")).hasContent("4321");
      assertThat(directory.resolve("home/.codex/agents")).doesNotExist();
      for (String part : List.of("home/.codex/log", "home/.codex-sqlite", "workspace", "tmp")) {
        assertThat(mode(directory.resolve(part))).isEqualTo("rwx------");
      }
      assertThat(mode(directory.resolve("home/.codex/config.toml"))).isEqualTo("rw-------");
    }
  }

  @Test
  void theSystemPromptAndTheOptionsComeInTheirPlaces() throws Exception {
    Map<String, Object> feature = new LinkedHashMap<>();
    feature.put("tool_namespace", "ns");
    feature.put("enabled", true);
    feature.put("non_code_mode_only", null);
    feature.put("max_concurrent_threads_per_session", "4");
    Map<String, Object> options =
        Map.of(
            "features", Map.of("multi_agent_v2", feature),
            "agents", Map.of("interrupt_message", false, "max_depth", 2));
    try (Agent _ = rig.start(options, Optional.of("a \"b\"\n\u007f ü \u0001"), Optional.empty())) {
      assertThat(config())
          .contains(
              """
              cli_auth_credentials_store = "file"

              developer_instructions = "a \\"b\\"\\n\\u007F ü \\u0001"

              [features.multi_agent_v2]
              enabled = true
              max_concurrent_threads_per_session = 4
              tool_namespace = "ns"

              [agents]
              max_depth = 2
              interrupt_message = false

              [analytics]
              """);
      assertThat(Files.readString(directory.resolve("home/.codex/agents/default.toml")))
          .contains("Default subagent that executes only");
    }
  }

  @Test
  void rolesAreFiles() throws Exception {
    Map<String, Object> roles =
        Map.of(
            "default",
            Map.of("description", "mine"),
            "scout",
            Map.of(
                "description", "looks",
                "developer_instructions", "look",
                "nickname_candidates", List.of("a", "b")));
    Map<String, Object> options =
        Map.of(
            "agents", Map.of("roles", roles),
            "features", Map.of("multi_agent_v2", Map.of("enabled", true)));
    try (Agent _ = rig.start(options)) {
      Path agents = directory.resolve("home/.codex/agents");
      assertThat(agents.resolve("scout.toml"))
          .hasContent(
              """
              name = "scout"
              description = "looks"
              developer_instructions = "look"
              nickname_candidates = ["a", "b"]

              [features.multi_agent_v2]
              enabled = false
              """);
      assertThat(Files.readString(agents.resolve("default.toml")))
          .startsWith("name = \"default\"\ndescription = \"mine\"\n")
          .contains(
              "Follow only the parent NEW_TASK payload",
              "Ignore inherited root-session prompts",
              "Do not call spawn_agent, wait_agent, followup_task",
              "Do not return TOOL_UNAVAILABLE")
          .doesNotContain("Default subagent that executes only", "nickname_candidates");
      assertThat(config()).doesNotContain("scout", "[agents");
    }
  }

  @Test
  void theFirstTurnBeginsAThreadAndTheNextGoesOnWithIt() throws Exception {
    try (Agent agent = rig.start(Map.of("sandbox_mode", "read-only"))) {
      answered(agent);
      answered(agent);
    }
    List<String> common =
        List.of(
            "--config",
            "approval_policy=\"never\"",
            "--config",
            "model_provider=\"dressage_proxy\"",
            "--config",
            "web_search=\"disabled\"",
            "--config",
            "log_dir=\"" + directory.resolve("home/.codex/log") + "\"",
            "--skip-git-repo-check",
            "--ignore-rules",
            "-");
    assertThat(rig.standIn.arguments(1))
        .isEqualTo(
            joined(
                List.of("exec", "--json", "--model", "proxy-model", "--sandbox", "read-only"),
                common));
    assertThat(rig.standIn.arguments(2))
        .isEqualTo(
            joined(
                List.of(
                    "exec",
                    "resume",
                    CodexRig.THREAD,
                    "--json",
                    "--model",
                    "proxy-model",
                    "--config",
                    "sandbox_mode=\"read-only\""),
                common));
    assertThat(rig.standIn.input(2)).isEqualTo("--help");
    assertThat(rig.standIn.workedIn(1)).isEqualTo(directory.resolve("workspace"));
  }

  private static List<String> joined(List<String> first, List<String> second) {
    List<String> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  @Test
  void flagsCanBeSwitchedOff() throws Exception {
    try (Agent agent = rig.start(Map.of("skip_git_repo_check", false, "ignore_rules", "no"))) {
      answered(agent);
    }
    assertThat(rig.standIn.arguments(1))
        .doesNotContain("--skip-git-repo-check", "--ignore-rules")
        .endsWith("-");
  }

  @Test
  void theEnvironmentIsByAllowListAndTheKeyInNoFile() throws Exception {
    try (Agent agent = rig.start(Map.of())) {
      answered(agent);
    }
    assertThat(rig.standIn.environment(1))
        .containsEntry("HOME", directory.resolve("home").toString())
        .containsEntry("CODEX_HOME", directory.resolve("home/.codex").toString())
        .containsEntry("CODEX_SQLITE_HOME", directory.resolve("home/.codex-sqlite").toString())
        .containsEntry("TMPDIR", directory.resolve("tmp").toString())
        .containsEntry("RUST_LOG", "error")
        .containsEntry("BBS_MODEL_KEY", AgentFixture.MODEL_KEY)
        .doesNotContainKeys("OPENAI_API_KEY", "CODEX_BIN");
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readString(file)).doesNotContain(AgentFixture.MODEL_KEY);
      }
    }
  }

  static Stream<Arguments> faults() {
    return Stream.of(
        Arguments.of(Map.of("sandbox_mode", "yolo"), "sandbox_mode: must be one of read-only, "),
        Arguments.of(Map.of("model_provider_id", "a b"), "model_provider_id: must consist of"),
        Arguments.of(Map.of("model_provider_id", ""), "model_provider_id: must have at least 1"),
        Arguments.of(Map.of("model", Map.of("id", "")), "model.id"),
        Arguments.of(Map.of("model", Map.of("x", 1)), "model.x: unexpected"),
        Arguments.of(Map.of("approval_policy", "always"), "approval_policy"),
        Arguments.of(Map.of("web_search", true), "web_search: must be a string"),
        Arguments.of(Map.of("working_directory", "/"), "working_directory: unexpected"),
        Arguments.of(multiAgent("max_concurrent_threads_per_session", 0), "must be at least 1"),
        Arguments.of(multiAgent("tool_namespace", "a b"), "v2.tool_namespace: must be at most"),
        Arguments.of(multiAgent("tool_namespace", "a".repeat(65)), "v2.tool_namespace"),
        Arguments.of(multiAgent("tool_namespace", ""), "v2.tool_namespace"),
        Arguments.of(multiAgent("mode", 1), "features.multi_agent_v2.mode: unexpected"),
        Arguments.of(Map.of("agents", Map.of("max_depth", 0)), "agents.max_depth"),
        Arguments.of(roles("a b", Map.of("description", "x")), "agent role names"),
        Arguments.of(roles("a", Map.of()), "agents.roles.a.description: a string is required"),
        Arguments.of(roles("a", Map.of("description", "")), "agents.roles.a.description"),
        Arguments.of(
            roles("a", Map.of("description", "x", "developer_instructions", "")),
            "agents.roles.a.developer_instructions"),
        Arguments.of(
            roles("a", Map.of("description", "x", "nickname_candidates", List.of(1))),
            "agents.roles.a.nickname_candidates.0: must be a string"),
        Arguments.of(roles("a", Map.of("description", "x", "y", 1)), "agents.roles.a.y"),
        Arguments.of(
            Map.of(
                "features",
                Map.of("multi_agent_v2", Map.of("enabled", true)),
                "agents",
                Map.of("max_threads", 2)),
            "agents.max_threads: cannot be set while features.multi_agent_v2.enabled is true; use"
                + " features.multi_agent_v2.max_concurrent_threads_per_session"));
  }

  private static Map<String, Object> multiAgent(String name, Object value) {
    return Map.of("features", Map.of("multi_agent_v2", Map.of(name, value)));
  }

  private static Map<String, Object> roles(String name, Map<String, Object> role) {
    return Map.of("agents", Map.of("roles", Map.of(name, role)));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void badOptionsAreRefusedBeforeAnythingStarts(Map<String, Object> options, String told) {
    assertThatThrownBy(() -> rig.backend().plan(options))
        .isInstanceOfSatisfying(
            Problem.class, problem -> assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR))
        .hasMessageStartingWith("Invalid codex backend_options: ")
        .hasMessageContaining(told);
    assertThat(rig.fixture.started).isEmpty();
  }

  @Test
  void threadsMayBeLimitedWithoutTheFeature() {
    for (Object enabled : new Object[] {false, "no"}) {
      assertThat(
              rig.backend()
                  .plan(
                      Map.of(
                          "features",
                          Map.of("multi_agent_v2", Map.of("enabled", enabled)),
                          "agents",
                          Map.of("max_threads", 2)))
                  .identity())
          .isNotEmpty();
    }
  }

  @Test
  void theVersionIsAPartOfTheIdentityAndOldOnesAreRefused(@TempDir Path old) throws Exception {
    assertThat(rig.backend().plan(Map.of()).identity())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("program", rig.standIn.program().toString(), "version", "codex-cli 0.171.0"));
    StandIn outdated = new StandIn(old, "codex-cli 0.20.0");
    assertThatThrownBy(
            () -> rig.backend().plan(Map.of("executable", outdated.program().toString())))
        .hasMessageContaining("codex-cli 0.20.0 at ")
        .hasMessageContaining("0.171.0 is tested");
    assertThatThrownBy(() -> rig.backend().plan(Map.of("executable", "/no/such/codex")))
        .hasMessageStartingWith("codex binary not found. Set CODEX_BIN or install Codex CLI");
  }

  private void answered(Agent agent) {
    assertThat(agent.run(rig.fixture.task("t1", "--help")))
        .isInstanceOf(AgentResult.Answered.class);
  }

  private static String mode(Path file) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
